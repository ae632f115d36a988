export { createEventStream } from './create-event-stream.ts';
export { recordEvent } from './record-event.ts';
export { eventRoutes } from './routes.ts';
