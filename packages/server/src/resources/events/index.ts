export { createEventStream } from './create-event-stream.ts';
export { type EventRecord, recordEvent } from './record-event.ts';
export { eventRoutes } from './routes.ts';
