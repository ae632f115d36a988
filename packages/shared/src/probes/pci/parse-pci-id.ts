/** sysfs prints `0x10de` and a newline; null for anything else. */
export function parsePciId(text: string): string | null {
  return /^0x([0-9a-f]{4,6})$/i.exec(text.trim())?.[1]?.toLowerCase() ?? null;
}

/** Display, 3D and other controllers that drive GPUs: audio and USB functions of a card are of other classes. */
export function isGpuClass(classCode: string): boolean {
  return classCode.startsWith('03');
}
