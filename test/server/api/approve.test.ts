import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Actor, TokenScope } from '../../../src/domain/access.ts';
import { createToken } from '../../../src/engine/access/tokens.ts';
import { type Answer, type ApiScene, openApiScene } from '../../support/api-scene.ts';

let scene: ApiScene;
let run: string;
let keys = 0;
beforeAll(async () => {
  scene = await openApiScene();
});
afterAll(() => scene[Symbol.asyncDispose]());
/** Planned by Ann, with her token `runner`. */
beforeEach(async () => {
  run = await scene.start('watched.yaml', `key-${keys++}`);
});

const ann: Actor = { name: 'ann', via: 'dashboard', token: 'chief' };

const make = (maker: Actor, name: string, owner: string, scope: TokenScope): Promise<string> =>
  createToken(
    { ...scene.opened.context, actor: maker },
    { name, owner, scope, accounts: null, expiresAt: null },
  );

const approve = (token: string, which = run): Promise<Answer> =>
  scene.call('POST', `/runs/${which}/approve`, { token, body: {} });

describe('a token and its maker are one person', () => {
  test('an administrator does not approve the own run with a token that she made for another name', async () => {
    const answer = await approve(await make(ann, 'eves', 'eve', 'approve'));
    expect([answer.status, answer.text]).toEqual([
      409,
      expect.stringContaining('It was planned by ann, who also made the token of eve.'),
    ]);
  });

  test('nor with a token that such a token made', async () => {
    await make(ann, 'first', 'eve', 'admin');
    await make({ name: 'eve', via: 'api', token: 'first' }, 'second', 'fay', 'admin');
    const third = await make({ name: 'fay', via: 'dashboard', token: 'second' }, 'third', 'gil', 'approve');
    const answer = await approve(third);
    expect([answer.status, answer.text]).toEqual([
      409,
      expect.stringContaining('It was planned by ann, who also made the token of gil.'),
    ]);
  });

  test('the maker of a token does not approve what was planned with it', async () => {
    const token = await make({ name: 'bob', via: 'dashboard', token: null }, 'hals', 'hal', 'run');
    const started = await scene.call('POST', '/runs', {
      token,
      body: { campaign: 'watched.yaml' },
      headers: { 'idempotency-key': 'of-hal' },
    });
    const answer = await approve(
      await scene.tokenOf('bobs', 'approve', 'bob'),
      String(started.json?.['run']),
    );
    expect([answer.status, answer.text]).toEqual([
      409,
      expect.stringContaining('It was planned with a token that bob made, and you are bob.'),
    ]);
  });

  test('a person whose token a third person made approves it', async () => {
    expect((await approve(await scene.tokenOf('beas', 'approve', 'bea'))).status).toBe(200);
  });

  test('the list of tokens names the maker of each', async () => {
    await make(ann, 'listed', 'eve', 'read');
    const { json } = await scene.call('GET', '/tokens');
    expect(json?.['tokens']).toContainEqual(expect.objectContaining({ name: 'listed', madeBy: 'ann' }));
  });
});

describe('the scope approve', () => {
  test('allows what run allows, and to approve', async () => {
    const token = await scene.tokenOf('cyds', 'approve', 'cyd');
    expect((await approve(token)).status).toBe(200);
    expect(
      (await scene.call('POST', `/runs/${run}/cancel`, { token, body: { reason: 'over' } })).status,
    ).toBe(200);
  });

  test('does not allow tokens, the audit trail or the resolution of doubts', async () => {
    const token = await scene.tokenOf('dots', 'approve', 'dot');
    const answers = await Promise.all([
      scene.call('GET', '/tokens', { token }),
      scene.call('GET', '/audit', { token }),
      scene.call('POST', `/runs/${run}/resolve`, { token, body: { resolution: 'resend', reason: 'x' } }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
  });

  test('is needed to approve', async () => {
    const answer = await approve(await scene.tokenOf('ivos', 'run', 'ivo'));
    expect([answer.status, answer.text]).toEqual([
      403,
      expect.stringContaining('this call needs \\"approve\\"'),
    ]);
  });
});
