import { installedPackages } from '../packages.ts';
import { type Program, printed } from './program.ts';

/** `dpkg-query -W -f=FORMAT`, with the placeholders that name one field. */
export const dpkgQuery: Program = (machine, args) => {
  const [show, option = '', ...patterns] = args;
  const format = /^(?:-f|--showformat)=(.*)$/.exec(option)?.[1];
  if (show !== '-W' || format === undefined || patterns.length > 0) return undefined;
  const rows = installedPackages(machine).map(({ name, version, arch, status = 'install ok installed' }) => {
    const fields: Record<string, string> = { Package: name, Version: version, Architecture: arch, Status: status };
    return format
      .replaceAll('\\t', '\t')
      .replaceAll('\\n', '\n')
      .replace(/\$\{(\w+)\}/g, (_, field: string) => fields[field] ?? '');
  });
  return printed(rows.join(''));
};
