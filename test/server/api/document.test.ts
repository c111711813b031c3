import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { tokenScopes } from '../../../src/domain/access.ts';
import { revokeToken } from '../../../src/engine/access/tokens.ts';
import { requireStatus } from '../../../src/engine/reporting/run-status.ts';
import { apiDocument } from '../../../src/server/api/document.ts';
import { type Answer, type ApiScene, type CallOptions, openApiScene } from '../../support/api-scene.ts';
import { createRequestRows } from '../../support/request-rows.ts';

const read = (file: string): string =>
  readFileSync(new URL(`../../../docs/${file}`, import.meta.url), 'utf8');

const document = await apiDocument();

const { paths } = z
  .object({
    paths: z.record(
      z.string(),
      z.record(
        z.string(),
        z.object({
          operationId: z.string(),
          requestBody: z.object({ required: z.boolean() }).optional(),
          security: z.tuple([z.object({ token: z.tuple([z.enum(tokenScopes)]) })]),
          responses: z.record(z.string(), z.looseObject({ content: z.record(z.string(), z.unknown()) })),
        }),
      ),
    ),
  })
  .parse(document);

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([
      method,
      {
        operationId,
        security: [{ token }],
        responses,
      },
    ]) => ({
      operation: operationId,
      path,
      method,
      scope: token[0],
      responses,
    }),
  ),
);
type Operation = (typeof operations)[number];

test('docs/reference/openapi.json equals the document that the routes generate', () => {
  expect(read('reference/openapi.json')).toBe(`${JSON.stringify(document, null, 2)}\n`);
});

test('the document is valid OpenAPI 3.1', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate(structuredClone({ ...document }));
  expect(errors).toBeUndefined();
  expect({ valid, version: validator.version }).toEqual({ valid: true, version: '3.1' });
});

test('docs/reference/api.md lists every route with the scope it needs', () => {
  const apiPage = read('reference/api.md');
  for (const { method, path, scope } of operations)
    expect(apiPage).toContain(`| \`${method.toUpperCase()} ${path}\` | ${scope} |`);
});

test('every operation has a summary, a name of its own, and all its answers', () => {
  expect(new Set(operations.map(({ operation }) => operation)).size).toBe(operations.length);
  expect(JSON.stringify(document)).not.toContain('Default Response');
});

test('exactly the bodies without defaults are required', () => {
  const required = operations.flatMap(({ path, method, operation }) =>
    paths[path]?.[method]?.requestBody?.required ? [operation] : [],
  );
  expect(required.toSorted()).toEqual(['promoteRun', 'resolveRun', 'startRun']);
});

test('the document has internal errors, Retry-After headers and binary reports', () => {
  for (const { responses } of operations) {
    expect(Object.keys(responses)).toContain('500');
    expect(responses['503']).toMatchObject({ headers: { 'Retry-After': expect.anything() } });
  }
  const sheet = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';
  expect(paths['/reports/missing']?.['get']?.responses['200']?.content[sheet]).toMatchObject({
    schema: { type: 'string', format: 'binary' },
  });
});

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema({ $id: 'http://api/document', ...document });

/** Undefined if the answer matches its schema. */
function faultOf({ path, method, responses }: Operation, { status, headers, json }: Answer): unknown {
  const [type = ''] = (headers.get('content-type') ?? '').split(';');
  if (!responses[status]?.content[type]) return `${status} ${type} is not in the document`;
  if (json === undefined) return undefined;
  const parts = ['paths', path, method, 'responses', String(status), 'content', type, 'schema'];
  const pointer = parts.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/');
  const validate = ajv.compile({ $ref: `http://api/document#/${encodeURI(pointer)}` });
  return validate(json) ? undefined : validate.errors;
}

let scene: ApiScene;
let run: string;
let watched: string;
beforeAll(async () => {
  scene = await openApiScene(1_000);
  run = await scene.start('payroll.yaml', 'first');
  watched = await scene.start('watched.yaml', 'watched');
  const times = '{"at":["2999-01-01T00:00"],"timeZone":"UTC","catchUp":0,"overlap":"skip"}';
  await scene.opened.ledger.pool.query(
    `INSERT INTO schedules (schedule, campaign, times, active, recorded_until) VALUES ('a.yaml', 'a', $1, true, now())`,
    [times],
  );
  await scene.opened.ledger.pool.query(
    `INSERT INTO ticks (schedule, due_at, state, reason) VALUES ('a.yaml', now(), 'missed', '{"kind": "no_worker", "catchUpMilliseconds": 0}')`,
  );
  await createRequestRows(scene.opened.ledger.pool, run);
  await scene.opened.ledger.pool.query(
    `UPDATE requests SET state = 'in_doubt' WHERE run_id = $1 AND request = 1`,
    [run],
  );
  const canary = {
    recipients: { kind: 'share', share: 0.02 },
    observe: 1_000,
    promote: 'auto',
    abort: { rejected: 0 },
  };
  await scene.opened.ledger.pool.query(
    `WITH rest AS (UPDATE slices SET state = 'unpromoted', job = NULL WHERE run_id = $1 AND phase = 'sending')
     UPDATE runs SET definition = definition || jsonb_build_object('canary', $2::jsonb) WHERE run_id = $1`,
    [run, JSON.stringify(canary)],
  );
});
afterAll(() => scene[Symbol.asyncDispose]());

type Exercise = CallOptions & { readonly path?: () => string; readonly status: number };

/** Each call succeeds in this order. */
const exercises: Readonly<Record<string, Exercise>> = {
  listRuns: { status: 200 },
  startRun: { status: 202, body: { campaign: 'payroll.yaml' }, headers: { 'idempotency-key': 'other' } },
  getRun: { status: 200 },
  reportRun: { status: 200 },
  reportContacts: { status: 200 },
  reportFailures: { status: 200 },
  reportMissing: { status: 200 },
  reportBilling: { status: 200 },
  listCampaigns: { status: 200 },
  listSchedules: { status: 200 },
  promoteRun: { status: 202, body: { reason: 'seen' } },
  pauseRun: { status: 200, body: { reason: 'lunch' } },
  resumeRun: { status: 202 },
  resolveRun: { status: 200, body: { resolution: 'abandon', reason: 'seen' } },
  cancelRun: { status: 200 },
  approveRun: { status: 200, path: () => `/runs/${watched}/approve` },
  listAudit: { status: 200 },
  listTokens: { status: 200 },
};

test('these tests call every operation of the document, and no other', () => {
  expect(Object.keys(exercises).toSorted()).toEqual(operations.map(({ operation }) => operation).toSorted());
});

const inOrder = Object.keys(exercises).flatMap((name) =>
  operations.filter(({ operation }) => operation === name),
);

describe.each(inOrder)('$operation', (operation) => {
  const exercise = exercises[operation.operation] ?? { status: 0 };
  const callWith = (token: string): Promise<Answer> => {
    const path = exercise.path?.() ?? operation.path.replace('{run}', run);
    return scene.call(operation.method.toUpperCase(), path, { ...exercise, token });
  };
  const smaller = tokenScopes.slice(0, tokenScopes.indexOf(operation.scope));

  test('a call without a token, or with a wrong, expired or revoked one, is answered 401', async () => {
    const name = `${operation.operation}-${Math.random()}`;
    const expired = await scene.tokenOf(`${name}-expired`, 'admin', 'bob', {
      expiresAt: new Date(Date.now() - 1),
    });
    const revoked = await scene.tokenOf(`${name}-revoked`, 'admin', 'bob');
    await revokeToken(scene.opened.context, `${name}-revoked`);
    for (const token of ['', `volley_${'0'.repeat(48)}`, expired, revoked]) {
      const answer = await callWith(token);
      expect([answer.status, answer.json?.['kind'], answer.headers.get('www-authenticate')]).toEqual([
        401,
        'token',
        expect.stringMatching(token === '' ? /^Bearer realm="volley"$/ : /error="invalid_token"$/),
      ]);
      expect(faultOf(operation, answer)).toBeUndefined();
    }
  });

  test.each(smaller)('a call with the scope %s is answered 403 with the needed scope', async (scope) => {
    const answer = await callWith(scene.tokens[scope]);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([
      403,
      `Bearer realm="volley", error="insufficient_scope", scope="${operation.scope}"`,
    ]);
    expect(faultOf(operation, answer)).toBeUndefined();
  });

  test('the answer matches its schema and is not cached', async () => {
    const owner = operation.operation === 'approveRun' ? 'bob' : 'ann';
    const token = await scene.tokenOf(`${operation.operation}-right`, operation.scope, owner);
    const answer = await callWith(token);
    expect(answer.status, answer.text).toBe(exercise.status);
    expect(faultOf(operation, answer)).toBeUndefined();
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });
});

const ofRuns = inOrder.filter(({ path }) => path.includes('{run}'));

test.each(ofRuns)('$operation is answered 404 for an unknown run', async (operation) => {
  const { body = {} } = exercises[operation.operation] ?? {};
  const path = operation.path.replace('{run}', 'none');
  const asked = operation.method === 'post' ? { body } : {};
  const answer = await scene.call(operation.method.toUpperCase(), path, asked);
  expect([answer.status, answer.json?.['detail']]).toEqual([404, expect.stringContaining('no such run')]);
  expect(faultOf(operation, answer)).toBeUndefined();
});

const reading = operations.filter(({ scope }) => scope === 'read');

test.each(reading)('$operation is allowed for every scope', async ({ path }) => {
  for (const token of Object.values(scene.tokens))
    expect((await scene.call('GET', path.replace('{run}', run), { token })).status).toBe(200);
});

test('getRun answers everything that `volley status --json` prints', async () => {
  const { pool } = scene.opened.ledger;
  await pool.query(
    `INSERT INTO notifications (run_id, change, event, target_index, target, created_at)
     VALUES ($1, 1, 'paused', 0, '{"kind":"webhook"}', now())`,
    [run],
  );
  const { json } = await scene.call('GET', `/runs/${run}`);
  const status = await requireStatus(scene.opened.context, run);
  expect(status.notifications).toHaveLength(1);
  expect(json).toEqual(JSON.parse(JSON.stringify(status)));
});

describe('the format of a report', () => {
  const forms = [
    ['csv', 'text/csv; charset=utf-8', /^mobile,name,code,Volley Run,Volley Line/],
    ['ndjson', 'application/x-ndjson; charset=utf-8', /^\{"mobile":"0412000000"/],
    ['xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', /^PK/],
    ['html', 'text/html; charset=utf-8', /^<!doctype html>/i],
    ['json', 'application/json; charset=utf-8', /^\{"title":"Contacts of run/],
  ] as const;

  test.each(forms)('a report is sent as %s by its name and by Accept', async (format, type, begins) => {
    for (const [query, accept] of [
      [`?format=${format}`, 'application/json'],
      ['', type.split(';')[0] ?? ''],
    ] as const) {
      const answer = await scene.call('GET', `/runs/${run}/contacts${query}`, { headers: { accept } });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
      expect(answer.text.replace(/^\uFEFF/, '')).toMatch(begins);
    }
  });

  test('an unknown format is refused with a list of the known ones', async () => {
    const answer = await scene.call('GET', `/runs/${run}/report`, { headers: { accept: 'text/csv' } });
    expect([answer.status, answer.json?.['detail']]).toEqual([406, expect.stringContaining('format=json|')]);
    expect((await scene.call('GET', `/runs/${run}/report?format=csv`)).status).toBe(400);
  });

  test('the figures equal those of the command line', async () => {
    const answer = await scene.call('GET', '/reports/billing?by=campaign&campaign=test&from=2020&to=2021-01');
    expect(answer.status).toBe(400);
    const billed = await scene.call('GET', `/reports/billing?by=run&run=${run}&run=${watched}&from=2020-01`);
    expect(billed.json).toMatchObject({
      subtitle: [expect.stringContaining('from 2020-01-01T00:00'), 'by run', `run: ${run}, ${watched}`],
    });
  });
});
