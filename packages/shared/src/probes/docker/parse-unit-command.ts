/** A file of the unit, in the order in which systemd takes them. */
export interface UnitText {
  file: string;
  text: string;
}

/** One word of a command line and the file that states it. */
export interface Word {
  word: string;
  file: string;
}

type Variables = Map<string, { value: string; file: string }>;

/** `ExecStart` of the last file that states one, with the unit's variables put in; null: none states one. */
export function parseStartCommand(
  units: readonly UnitText[],
  environmentFiles: readonly UnitText[],
): readonly Word[] | null {
  const variables: Variables = new Map();
  let command: { words: string[]; file: string } | null = null;
  for (const { file, text } of units) {
    for (const [key, value] of settingsOf(text)) {
      if (key === 'ExecStart') command = value === '' ? null : { words: wordsOf(value), file };
      if (key === 'Environment') for (const word of wordsOf(value)) setVariable(variables, word, file);
    }
  }
  for (const { file, text } of environmentFiles) {
    for (const line of linesOf(text)) setVariable(variables, line.replace(/=\s*(["'])(.*)\1$/, '=$2'), file);
  }
  return command?.words.flatMap((word) => expand(word, command.file, variables)) ?? null;
}

/** Environment files that the unit names, without the dash that lets them be missing. */
export function environmentFilesOf(units: readonly UnitText[]): string[] {
  return units
    .flatMap(({ text }) => settingsOf(text).filter(([key]) => key === 'EnvironmentFile'))
    .map(([, value]) => value.replace(/^-/, ''));
}

/** `$NAME` alone becomes the words of its value, `${NAME}` is put in where it stands. */
function expand(word: string, file: string, variables: Variables): Word[] {
  const whole = /^\$([A-Za-z_]\w*)$/.exec(word)?.[1];
  if (whole !== undefined) {
    const known = variables.get(whole);
    return known === undefined ? [] : wordsOf(known.value).map((inner) => ({ word: inner, file: known.file }));
  }
  return [{ word: word.replace(/\$\{([A-Za-z_]\w*)\}/g, (_, name: string) => variables.get(name)?.value ?? ''), file }];
}

/** Lines `Key=value` of the [Service] section; a backslash at the end goes on in the next line. */
function settingsOf(text: string): [string, string][] {
  let section = '';
  return linesOf(text.replace(/\\\r?\n/g, ' ')).flatMap((line): [string, string][] => {
    const header = /^\[([^\]]*)\]$/.exec(line)?.[1];
    if (header !== undefined) section = header;
    const equals = line.indexOf('=');
    if (section !== 'Service' || header !== undefined || equals < 1) return [];
    return [[line.slice(0, equals).trim(), line.slice(equals + 1).trim()]];
  });
}

/** No unit or environment file comes near it. */
const longestText = 200_000;

function linesOf(text: string): string[] {
  return text
    .slice(0, longestText)
    .replace(/^\uFEFF/, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith(';'));
}

function setVariable(variables: Variables, word: string, file: string): void {
  const equals = word.indexOf('=');
  if (equals > 0) variables.set(word.slice(0, equals).trim(), { value: word.slice(equals + 1), file });
}

/** Words as systemd takes them: by blanks, with quotes around a word or a part of it. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, (_, double?: string, single?: string) => double ?? single ?? ''),
  );
}
