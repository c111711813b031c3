import { describe, expect, test } from 'vitest';
import { readAccount } from '../../src/gateway/read-account.ts';
import { readReceiverAccounts } from '../../src/gateway/receiver-accounts.ts';
import { digestOf } from '../../src/platform/digest.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const environment = {
  TOKEN: 'secret-token-value',
  HOOK: 'secret_hook_value_of_22_chars',
  PASSWORD: 'hunter2',
  SIGNATURE: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
};

const file = (lines: string) => `accounts:
  main:
    interface: rest-2.02
    baseUrl: https://service.example
    authToken: \${TOKEN}
${lines.replace(/^(?=.)/gm, '    ')}
`;

const read = (lines: string, env: Readonly<Record<string, string>> = environment) =>
  readReceiverAccounts(file(lines), 'accounts.yaml', env);

const problems = (lines: string, env?: Readonly<Record<string, string>>) =>
  problemsThrown(() => read(lines, env));

const hook = 'webhookToken: ${HOOK}';

describe('the accounts that reports are received for', () => {
  test('are those with a token', () => {
    const quiet =
      '  quiet: { interface: rest-2.02, baseUrl: https://service.example, authToken: "${TOKEN}" }\n';
    const accounts = readReceiverAccounts(file(hook) + quiet, 'accounts.yaml', environment);
    expect([...accounts.keys()]).toEqual(['main']);
  });

  test('need none but their own names set', () => {
    expect(read(hook, { HOOK: environment.HOOK }).size).toBe(1);
  });

  test('cannot have settings for callers and no token', () => {
    expect(problems('receiver: { addresses: [192.0.2.1] }')).toEqual([
      'accounts.yaml:6:15: Account "main" has a "receiver", but no token. Add "webhookToken" or "webhookTokenSha256".',
    ]);
  });
});

describe('the token of the path', () => {
  const digest = digestOf(environment.HOOK).toString('hex');

  test('is kept as its SHA-256 only', () => {
    expect(read(hook).get('main')?.tokenDigests).toEqual([digestOf(environment.HOOK)]);
    expect(JSON.stringify([...read(hook)])).not.toContain(environment.HOOK);
  });

  test('need not be on the machine where its SHA-256 stands in the file', () => {
    const accounts = read(`webhookTokenSha256: ${digest.toUpperCase()}`, {});
    expect(accounts.get('main')?.tokenDigests).toEqual([digestOf(environment.HOOK)]);
  });

  test('may be two while it is changed', () => {
    const other = 'ab'.repeat(32);
    const digests = read(`${hook}\nwebhookTokenSha256: ${other}`).get('main')?.tokenDigests;
    expect(digests?.map((one) => one.toString('hex')).sort()).toEqual([digest, other].sort());
  });

  test('that is not set is named with its place', () => {
    expect(problems(hook, {})).toEqual(['accounts.yaml:6:19: Environment variable HOOK is not set.']);
  });

  test.each([
    'short',
    'x'.repeat(21),
    'x'.repeat(257),
    'with/slash/and/twenty/two',
    'with space and twenty two',
    'ü'.repeat(30),
  ])('that could be guessed, or cannot stand in a path, is refused and not shown: %s', (token) => {
    expect(problems(hook, { HOOK: token })).toEqual([
      'accounts.yaml:6:19: The webhook token must be 22 to 256 letters, digits, "-" or "_": 128 random bits or more.',
    ]);
  });

  test('of 31 hexadecimal digits has fewer than 128 bits and is refused; of 32 it is taken', () => {
    expect(problems(hook, { HOOK: '0123456789abcdefABCDEF012345678' })).toEqual([
      'accounts.yaml:6:19: A webhook token in hexadecimal must have 32 digits or more: 128 random bits.',
    ]);
    expect(read(hook, { HOOK: '0123456789abcdef0123456789abcdef' }).size).toBe(1);
  });

  test.each(['abc', 'g'.repeat(64), 'a'.repeat(63)])('cannot have %s as its SHA-256', (written) => {
    expect(problems(`webhookTokenSha256: ${written}`)).toEqual([
      expect.stringMatching(/^accounts\.yaml:6:25: .*expected 64 hexadecimal digits/i),
    ]);
  });
});

describe('what callers have to show', () => {
  const settings = (receiver: string) => `${hook}\nreceiver: ${receiver}`;

  test.each([
    '{ basic: { user: volley, password: hunter2 } }',
    '{ credentials: { sender: a, apiKey: hunter2 } }',
    '{ credentials: hunter2 }',
    '{ credentials: [hunter2] }',
    '{ signature: { secret: whsec_hunter2 } }',
  ])('has its secrets in the environment, and shows none: %s', (receiver) => {
    const shown = problems(settings(receiver)).join('\n');
    expect(shown).toMatch(/\$\{NAME\}/);
    expect(shown).not.toContain('hunter2');
  });

  test.each(['203.0.113.0/33', '203.0.113', '2001:db8::/129', 'example.com', '203.0.113.1/', '1.2.3.4/-1'])(
    'cannot be the address %s, which is found when the file is checked',
    (address) => {
      const source = file(settings(`{ addresses: ["${address}"] }`));
      expect(problemsThrown(() => readAccount(source, 'accounts.yaml', 'main', environment))).toEqual([
        `accounts.yaml:7:29: "accounts.main.receiver.addresses.0": expected an IP address, or a range such as 203.0.113.0/24, got "${address}".`,
      ]);
    },
  );

  test('cannot be an address of an empty list', () => {
    expect(problems(settings('{ addresses: [] }'))).toEqual([
      expect.stringContaining('expected one address or more'),
    ]);
  });

  test("can be the account's own credentials only where it has them", () => {
    expect(problems(settings('{ credentials: required }'))).toEqual([
      expect.stringMatching(
        /^accounts\.yaml:7:30: "credentials": the account has no "sender" and "apiKey" of its own \(rest-2\.02\)/,
      ),
    ]);
    const accounts = read(`${settings('{ credentials: required }')}\nsender: ann\napiKey: \${PASSWORD}`);
    expect(accounts.get('main')?.credentialDigests).toEqual({
      sender: digestOf('ann'),
      apiKey: digestOf('hunter2'),
    });
  });

  test.each([
    'whsec_',
    'whsec_c2hvcnQ=',
    'c2VjcmV0IGtleSBvZiBieXRlcyB3aXRob3V0IHByZWZpeA==',
    `whsec_${'A'.repeat(90)}`,
    'whsec_*not base64*',
  ])('is signed with a key of 24 to 64 bytes, not with %s', (key) => {
    const lines = settings('{ signature: { secret: "${SIGNATURE}" } }');
    expect(problems(lines, { ...environment, SIGNATURE: key })).toEqual([
      'accounts.yaml:7:38: The key of the signature must be whsec_ and 24 to 64 bytes in base64.',
    ]);
    expect(read(lines).get('main')?.signatureKey).toEqual(Buffer.alloc(24, 7));
  });
});
