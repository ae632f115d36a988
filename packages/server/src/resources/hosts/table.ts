import type { HostClass, HostStatus } from '@gpufleet/shared/api';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { atMs, id, json } from '../../db/columns.ts';
import type { ValueChange } from './diff-facts.ts';

export const hostTable = sqliteTable(
  'hosts',
  {
    id: id(),
    siteId: text().notNull(),
    name: text().notNull(),
    status: text().$type<HostStatus>().notNull(),
    statusReason: text(),
    /** Raw Ed25519 public key, base64url. */
    publicKey: text().notNull(),
    machineFingerprint: text().notNull(),
    agentVersion: text().notNull(),
    bootId: text(),
    capabilities: json<string[]>().notNull(),
    clockSkewMs: integer(),
    class: json<HostClass>().notNull(),
    /** The class less the cluster, as canonical JSON: equal for hosts that are alike. '' before the first facts. */
    variant: text().notNull().default(''),
    /** Flushed in batches; the live value is in memory. */
    lastSeenAtMs: atMs(),
    /** Raised at every session; a claim from an older session is refused. */
    sessionEpoch: integer().notNull(),
    enrolledAtMs: atMs().notNull(),
    version: integer().notNull(),
  },
  (t) => [
    uniqueIndex('hosts_public_key').on(t.publicKey),
    index('hosts_site').on(t.siteId),
    index('hosts_name').on(t.name),
    index('hosts_variant').on(t.variant),
  ],
);

export const hostLabelTable = sqliteTable(
  'host_labels',
  { hostId: text().notNull(), key: text().notNull(), value: text().notNull() },
  (t) => [primaryKey({ columns: [t.hostId, t.key] }), index('host_labels_key_value').on(t.key, t.value)],
);

/** Properties by which hosts are filtered and counted. */
export const traitKeys = [
  'gpu',
  'driver',
  'branch',
  'runtime',
  'mig',
  'platform',
  'toolkit',
  'os',
  'l4t',
  'role',
] as const;
export type TraitKey = (typeof traitKeys)[number];

/** What the facts say a host is, one row a property: for filters and counts. Written with the host's class. */
export const hostTraitTable = sqliteTable(
  'host_traits',
  { hostId: text().notNull(), key: text().$type<TraitKey>().notNull(), value: text().notNull() },
  (t) => [primaryKey({ columns: [t.hostId, t.key] }), index('host_traits_key_value').on(t.key, t.value)],
);

/** Last body of each reported section (facts and diagnosis). */
export const hostFactTable = sqliteTable(
  'host_facts',
  {
    hostId: text().notNull(),
    name: text().notNull(),
    hash: text().notNull(),
    body: text().notNull(),
    receivedAtMs: atMs().notNull(),
  },
  (t) => [primaryKey({ columns: [t.hostId, t.name] })],
);

/** What changed from one report of a fact to the next: one row a report, however many values moved. */
export const factChangeTable = sqliteTable(
  'fact_changes',
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    hostId: text().notNull(),
    atMs: atMs().notNull(),
    name: text().notNull(),
    changes: json<ValueChange[]>().notNull(),
  },
  (t) => [index('fact_changes_host').on(t.hostId, t.seq)],
);
