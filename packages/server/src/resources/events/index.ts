export { type EventRecord, recordEvent } from './record-event.ts';
