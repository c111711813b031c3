/** A silent WAV file of one second by default. `format` 1 is PCM, 7 is µ-law. */
export function wav({ sampleRate = 8000, bits = 16, channels = 1, format = 1, seconds = 1 } = {}): Buffer {
  const blockAlign = (channels * bits) / 8;
  const samples = Buffer.alloc(seconds * sampleRate * blockAlign);
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(format, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(sampleRate, 24);
  header.writeUInt32LE(sampleRate * blockAlign, 28);
  header.writeUInt16LE(blockAlign, 32);
  header.writeUInt16LE(bits, 34);
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
