import type { UpdateSite } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';
import { isTimeZone } from '@gpufleet/shared/rollouts';

/** What the schema cannot say: that a zone exists and that a freeze ends after it began. */
export function checkSiteSettings(settings: UpdateSite): void {
  if (settings.timezone !== undefined && !isTimeZone(settings.timezone)) throw badZone('timezone', settings.timezone);
  const zone = settings.window?.zone;
  if (zone !== undefined && zone !== 'site' && !isTimeZone(zone)) throw badZone('window.zone', zone);
  settings.freezes?.forEach((freeze, index) => {
    if (Date.parse(freeze.from) < Date.parse(freeze.to)) return;
    throw new FleetError('bad_request', `freezes.${index}: it must end after it begins`, {
      errors: [{ path: `freezes.${index}.to`, message: 'must be after from' }],
    });
  });
}

function badZone(path: string, zone: string): FleetError {
  return new FleetError('bad_timezone', `${zone} is no IANA time zone, e.g. Europe/Berlin`, {
    errors: [{ path, message: 'no such IANA time zone' }],
  });
}
