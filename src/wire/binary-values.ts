/** Whether a text is base64 in whole groups of four characters; spaces and line breaks may be anywhere. */
export function isBase64(text: string): boolean {
  if (/[^\sA-Za-z0-9+/=]|=[^=\s]/.test(text)) return false;
  const written = text.replaceAll(/\s+/g, '');
  return written.length % 4 === 0 && !written.endsWith('===');
}

/** Whether it is 16-bit audio of 8000 Hz: PCM in a RIFF file (2.7 and 8); its format is in a chunk of its own, after any others. */
export function isCallAudio(content: Buffer): boolean {
  if (content.toString('latin1', 0, 4) !== 'RIFF' || content.toString('latin1', 8, 12) !== 'WAVE')
    return false;
  for (let at = 12; at + 24 <= content.length; ) {
    if (content.toString('latin1', at, at + 4) === 'fmt ') {
      const [format, sampleRate] = [content.readUInt16LE(at + 8), content.readUInt32LE(at + 12)];
      return format === 1 && sampleRate === 8_000 && content.readUInt16LE(at + 22) === 16;
    }
    const size = content.readUInt32LE(at + 4);
    at += 8 + size + (size % 2);
  }
  return false;
}
