import type { UpdateSite } from '@gpufleet/shared/api';
import { FleetError } from '@gpufleet/shared/core';

/** What the schema cannot say: that a zone exists and that a freeze ends after it began. */
export function checkSiteSettings(settings: UpdateSite): void {
  if (settings.timezone !== undefined && !isTimezone(settings.timezone)) throw badZone('timezone', settings.timezone);
  const zone = settings.window?.zone;
  if (zone !== undefined && zone !== 'site' && !isTimezone(zone)) throw badZone('window.zone', zone);
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

function isTimezone(zone: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}
