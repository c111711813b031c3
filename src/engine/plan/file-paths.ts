import type { Envelope } from '../../domain/message.ts';
import { memoizeByEnvelope } from './memoize-by-envelope.ts';

/** Collects the paths of the files that envelopes carry. */
export function createFilePaths() {
  const paths = new Set<string>();
  const add = memoizeByEnvelope(({ files, audio }: Envelope) => {
    for (const { path } of files) paths.add(path);
    for (const path of Object.values(audio)) paths.add(path);
    return true;
  });
  return { add, paths };
}
