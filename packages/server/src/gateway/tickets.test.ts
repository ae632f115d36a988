import { expect, test } from 'vitest';
import { createTickets } from './tickets.ts';

const host = { id: 'host_1', publicKey: 'key-a', enrolledAtMs: 7 };
const tickets = createTickets('secret', 1_000);

test('a ticket is good for its host until it expires', () => {
  const ticket = tickets.issue(host, 0);
  expect(tickets.holderOf(ticket)).toBe('host_1');
  expect(tickets.isValid(ticket, host, 999)).toBe(true);
  expect(tickets.isValid(ticket, host, 1_000)).toBe(false);
});

test('a ticket is void for another host, another key, another enrolment and another store', () => {
  const ticket = tickets.issue(host, 0);
  expect(tickets.isValid(ticket, { ...host, id: 'host_2' }, 1)).toBe(false);
  expect(tickets.isValid(ticket, { ...host, publicKey: 'key-b' }, 1)).toBe(false);
  expect(tickets.isValid(ticket, { ...host, enrolledAtMs: 8 }, 1)).toBe(false);
  expect(createTickets('other', 1_000).isValid(ticket, host, 1)).toBe(false);
});

test('a ticket is renewed when half of its time is over', () => {
  const ticket = tickets.issue(host, 0);
  expect(tickets.renew(ticket, host, 499)).toBe(ticket);
  expect(tickets.renew(ticket, host, 500)).toBe(tickets.issue(host, 500));
});

test('a ticket whose expiry was changed is void', () => {
  const [id, , mac] = tickets.issue(host, 0).split('.');
  expect(tickets.isValid(`${id}.999999.${mac}`, host, 1)).toBe(false);
});

test.each(['', 'x', 'host_1.1.short', '...', `host_1.1.${'a'.repeat(44)}`])('%j is no ticket', (text) => {
  expect(tickets.holderOf(text)).toBeUndefined();
  expect(tickets.isValid(text, host, 0)).toBe(false);
});
