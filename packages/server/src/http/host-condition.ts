import type { HostFilter, HostQuery } from '@gpufleet/shared/api';
import type { Requirement } from '@gpufleet/shared/rollouts';
import { and, type Column, eq, exists, inArray, isNull, ne, not, type SQL, sql } from 'drizzle-orm';
import type { Db } from '../db/index.ts';
import { findingTable } from '../resources/findings/table.ts';
import { hostLabelTable, hostTable, hostTraitTable, type TraitKey } from '../resources/hosts/table.ts';
import { requireSelector } from './require-selector.ts';

/** Condition on a row of `hosts`; undefined: every host. A selector that is none throws `bad_selector`. */
export function hostCondition(db: Db, filter: HostFilter): SQL | undefined {
  const { gpu, driver, mig, runtime, platform } = filter;
  const is = (key: TraitKey, value: string | undefined) =>
    value === undefined ? undefined : hasTrait(db, eq(hostTraitTable.key, key), eq(hostTraitTable.value, value));
  return and(
    filter.site ? inArray(hostTable.siteId, filter.site) : undefined,
    gpu === undefined ? undefined : hasTrait(db, eq(hostTraitTable.key, 'gpu'), contains(hostTraitTable.value, gpu)),
    driver === undefined
      ? undefined
      : hasTrait(db, inArray(hostTraitTable.key, ['driver', 'branch']), eq(hostTraitTable.value, driver)),
    is('mig', mig),
    is('runtime', runtime),
    is('platform', platform),
    ...requireSelector(filter.selector ?? '', 'query.selector').map((requirement) => labelCondition(db, requirement)),
  );
}

/** The same for the list of hosts, which is asked for more than what a host is. */
export function hostQueryCondition(db: Db, query: HostQuery): SQL | undefined {
  return and(
    hostCondition(db, query),
    query.status ? eq(hostTable.status, query.status) : isThere,
    query.name ? contains(hostTable.name, query.name) : undefined,
    query.finding ? hasOpenFinding(db, eq(findingTable.code, query.finding)) : undefined,
    query.severity ? hasOpenFinding(db, inArray(findingTable.severity, query.severity)) : undefined,
  );
}

export const isThere = ne(hostTable.status, 'decommissioned');

/** Part of the text, capitals aside; `%` and `_` stand for themselves. */
function contains(column: Column, text: string): SQL {
  const pattern = `%${text.replaceAll(/[%_\\]/g, '\\$&')}%`;
  return sql`${column} like ${pattern} escape '\\'`;
}

function hasTrait(db: Db, ...conditions: SQL[]): SQL {
  return exists(
    db
      .select({ key: hostTraitTable.key })
      .from(hostTraitTable)
      .where(and(eq(hostTraitTable.hostId, hostTable.id), ...conditions)),
  );
}

function hasOpenFinding(db: Db, condition: SQL): SQL {
  return exists(
    db
      .select({ id: findingTable.id })
      .from(findingTable)
      .where(and(eq(findingTable.hostId, hostTable.id), condition, isNull(findingTable.clearedAtMs))),
  );
}

/** As in Kubernetes, `!=` and `notin` also match a host that lacks the label. */
function labelCondition(db: Db, requirement: Requirement): SQL {
  const values = 'values' in requirement ? inArray(hostLabelTable.value, requirement.values) : undefined;
  const labelled = exists(
    db
      .select({ key: hostLabelTable.key })
      .from(hostLabelTable)
      .where(and(eq(hostLabelTable.hostId, hostTable.id), eq(hostLabelTable.key, requirement.key), values)),
  );
  return requirement.op === 'exists' || requirement.op === 'in' ? labelled : not(labelled);
}
