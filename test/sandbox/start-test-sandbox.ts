import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SendRequest } from '../../src/domain/message.ts';
import type { JournalLine } from '../../src/sandbox/journal.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import type { WireInterface } from '../../src/wire/wire-interface.ts';
import { readJournal } from '../support/journal.ts';
import { credentialsFor } from '../support/messages.ts';
import { outgoing } from '../support/outgoing.ts';

export type TestSandbox = Sandbox &
  AsyncDisposable & {
    /** The lines of its journal so far. */
    readonly journal: () => Promise<readonly JournalLine[]>;
    readonly journalText: () => Promise<string>;
  };

/** A sandbox with a journal, on a free port; both end with the test. */
export async function startTestSandbox(options: SandboxOptions = {}): Promise<TestSandbox> {
  const path = options.journal ?? join(tmpdir(), `sandbox-${randomUUID()}.jsonl`);
  const sandbox = await startSandbox({ ...options, journal: path });
  const journalText = () => readFile(path, 'utf8');
  return {
    ...sandbox,
    journalText,
    journal: () => readJournal(path),
    async [Symbol.asyncDispose]() {
      await sandbox.close();
      await rm(path);
    },
  };
}

export type Answer = { readonly status: number; readonly type: string; readonly text: string };

export async function post(url: string, body: string, headers: Record<string, string> = {}): Promise<Answer> {
  return answerOf(await fetch(url, { method: 'POST', headers, body }));
}

export async function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return answerOf(await fetch(url, { headers }));
}

async function answerOf(response: Response): Promise<Answer> {
  return {
    status: response.status,
    type: response.headers.get('content-type') ?? '',
    text: await response.text(),
  };
}

/** Encodes and sends a request. */
export function send({ url }: Sandbox, wire: WireInterface, request: SendRequest): Promise<Answer> {
  const { path, headers, body } = wire.encodeSendRequest(outgoing(request), credentialsFor(wire.name));
  return post(`${url}${path || '/'}`, body, { ...headers });
}
