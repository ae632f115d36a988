/** One package of the host as its manager lists it. */
export interface ListedPackage {
  name: string;
  version: string;
  arch: string | null;
  /** dpkg's state, in lower case. */
  state: string;
  held: boolean;
  /** dpkg wants it installed anew. */
  needsReinstall: boolean;
}

/** One line for each package, with the three words of its status: what is wanted, whether in error, the state. */
export const dpkgQueryArgv = [
  'dpkg-query',
  '-W',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the placeholders are dpkg's own
  '-f=${Package}\\t${Version}\\t${Architecture}\\t${Status}\\n',
] as const;

export function parseDpkgQuery(text: string): ListedPackage[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', version = '', arch = '', status = ''] = line.replace(/\r$/, '').split('\t');
    const [want, error, state] = status.toLowerCase().split(' ');
    if (name === '' || state === undefined || !isName(name)) return [];
    const held = want === 'hold';
    return [{ name, version, arch: arch || null, state, held, needsReinstall: error !== 'ok' }];
  });
}

export const rpmArgv = ['rpm', '-qa', '--qf', '%{NAME}\\t%{VERSION}-%{RELEASE}\\t%{ARCH}\\n'] as const;

/** rpm lists what is installed and nothing else. */
export function parseRpmList(text: string, isLocked: (name: string) => boolean): ListedPackage[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', version = '', arch = ''] = line.replace(/\r$/, '').split('\t');
    if (version === '' || !isName(name)) return [];
    const held = isLocked(name);
    return [{ name, version, arch: arch || null, state: 'installed', held, needsReinstall: false }];
  });
}

/** Not properly installed and not properly gone. */
export function isBroken({ state, needsReinstall }: ListedPackage): boolean {
  return needsReinstall || !['installed', 'config-files', 'not-installed'].includes(state);
}

function isName(text: string): boolean {
  return /^[\w.+-]{1,200}$/.test(text);
}
