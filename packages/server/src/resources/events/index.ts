export { createEventStream, type EventStream } from './event-stream.ts';
export { type EventRecord, recordEvent } from './record-event.ts';
export { eventRoutes } from './routes.ts';
