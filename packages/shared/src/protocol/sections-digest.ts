/**
 * What a host has reported, in one short text: the last 48 bits of each section's hash, in the order of the names. Enough to
 * see a change by chance, and to compare needs no hashing. Agent and server compare theirs with every heartbeat.
 */
export function sectionsDigestOf(hashes: Readonly<Record<string, string>>): string {
  let digest = '';
  for (const name of Object.keys(hashes).sort()) digest += `${hashes[name]?.slice(-12)},`;
  return digest;
}
