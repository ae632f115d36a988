const rootStart = /<nvidia_smi_log[\s>]/;
const rootEnd = '</nvidia_smi_log>';
/** One for each GPU, at most; each line is for a person. */
const mostWarnings = 64;
const longestWarning = 300;

/** The lines before and after a report that warn of something. What stands inside the report is none. */
export function parseSmiWarnings(text: string): string[] {
  const start = text.search(rootStart);
  const end = text.lastIndexOf(rootEnd);
  const before = start < 0 ? text : text.slice(0, start);
  const after = start < 0 || end < start ? '' : text.slice(end + rootEnd.length);
  return `${before}\n${after}`
    .split('\n', 10_000)
    .map((line) => line.trim())
    .filter((line) => /^warning\b|infoROM is corrupted/i.test(line))
    .slice(0, mostWarnings)
    .map((line) => line.slice(0, longestWarning));
}
