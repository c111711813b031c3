import { LRUCache } from 'lru-cache';
import type { Channel, Envelope, OutgoingRequest } from '../../domain/message.ts';
import type { Ledger } from '../../ledger/connection.ts';
import type { ClaimedRequest } from '../../ledger/requests/claim-rows.ts';
import { readRunFiles } from '../../ledger/runs/run-files.ts';

export type FileContents = ReadonlyMap<string, string>;

/** Loads the files of a run in base64, each read and encoded once. Takes at most one query. */
export type LoadFiles = (requests: readonly ClaimedRequest[]) => Promise<FileContents>;

/** Characters. */
const maxCharacters = 64 * 1024 * 1024;

export function createFileLoader(pool: Ledger['pool'], run: string): LoadFiles {
  const kept = new LRUCache<string, string>({
    maxSize: maxCharacters,
    sizeCalculation: (base64) => Math.max(1, base64.length),
  });
  return async (requests) => {
    const contents = new Map<string, string>();
    const missing: string[] = [];
    for (const path of new Set(requests.flatMap(({ envelope }) => pathsOf(envelope)))) {
      const base64 = kept.get(path);
      if (base64 === undefined) missing.push(path);
      else contents.set(path, base64);
    }
    if (missing.length === 0) return contents;
    for (const { path, data } of await readRunFiles(pool, run, missing)) {
      const base64 = data.toString('base64');
      kept.set(path, base64);
      contents.set(path, base64);
    }
    return contents;
  };
}

function pathsOf({ files, audio }: Envelope): readonly string[] {
  return [...files.map(({ path }) => path), ...Object.values(audio)];
}

/** @throws Error for a file that the run does not have */
export function toOutgoingRequest(
  channel: Channel,
  { messageId, envelope, destinations }: ClaimedRequest,
  contents: FileContents,
): OutgoingRequest {
  const contentOf = (path: string): string => {
    const content = contents.get(path);
    if (content === undefined) throw new Error(`the run has no file ${path}`);
    return content;
  };
  const audio = Object.entries(envelope.audio).map(([field, path]) => [field, contentOf(path)]);
  return {
    channel,
    messageId,
    fields: { ...envelope.fields, ...Object.fromEntries(audio) },
    destinations,
    files: envelope.files.map(({ path, name }) => ({ Name: name, Data: contentOf(path) })),
    keypads: envelope.keypads,
  };
}
