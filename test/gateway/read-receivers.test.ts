import { describe, expect, test } from 'vitest';
import { openAccounts } from '../../src/gateway/accounts-file.ts';
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
  openAccounts(file(lines), 'accounts.yaml').readReceivers(env);

const problems = (lines: string, env?: Readonly<Record<string, string>>) =>
  problemsThrown(() => read(lines, env));

const hook = 'webhookToken: ${HOOK}';

describe('the receivers of an accounts file', () => {
  test('accounts with a webhook token are read', () => {
    const quiet =
      '  quiet: { interface: rest-2.02, baseUrl: https://service.example, authToken: "${TOKEN}" }\n';
    const accounts = openAccounts(file(hook) + quiet, 'accounts.yaml').readReceivers(environment);
    expect([...accounts.keys()]).toEqual(['main']);
  });

  test('only the environment variables of accounts with a webhook token must be set', () => {
    expect(read(hook, { HOOK: environment.HOOK }).size).toBe(1);
  });

  test('receiver settings without a token are refused', () => {
    expect(problems('receiver: { addresses: [192.0.2.1] }')).toEqual([
      'accounts.yaml:6:15: Account "main" has a "receiver", but no token. Add "webhookToken" or "webhookTokenSha256".',
    ]);
  });
});

describe('the webhook token', () => {
  const digest = digestOf(environment.HOOK).toString('hex');

  test('a token is kept only as its SHA-256', () => {
    expect(read(hook).get('main')?.tokenDigests).toEqual([digestOf(environment.HOOK)]);
    expect(JSON.stringify([...read(hook)])).not.toContain(environment.HOOK);
  });

  test('a token need not be on the machine if the file has its SHA-256', () => {
    const accounts = read(`webhookTokenSha256: ${digest.toUpperCase()}`, {});
    expect(accounts.get('main')?.tokenDigests).toEqual([digestOf(environment.HOOK)]);
  });

  test('two tokens are valid while a token is being replaced', () => {
    const other = 'ab'.repeat(32);
    const digests = read(`${hook}\nwebhookTokenSha256: ${other}`).get('main')?.tokenDigests;
    expect(digests?.map((one) => one.toString('hex')).sort()).toEqual([digest, other].sort());
  });

  test('a token that is not set is reported with its position', () => {
    expect(problems(hook, {})).toEqual(['accounts.yaml:6:19: Environment variable HOOK is not set.']);
  });

  test.each([
    'short',
    'x'.repeat(21),
    'x'.repeat(257),
    'with/slash/and/twenty/two',
    'with space and twenty two',
    'ü'.repeat(30),
  ])('a token that could be guessed, or does not fit into a path, is refused and not shown: %s', (token) => {
    expect(problems(hook, { HOOK: token })).toEqual([
      'accounts.yaml:6:19: The webhook token must be 22 to 256 letters, digits, "-" or "_": 128 random bits or more.',
    ]);
  });

  test('a token of 31 hexadecimal digits has fewer than 128 bits and is refused, one of 32 is accepted', () => {
    expect(problems(hook, { HOOK: '0123456789abcdefABCDEF012345678' })).toEqual([
      'accounts.yaml:6:19: A webhook token in hexadecimal must have 32 digits or more: 128 random bits.',
    ]);
    expect(read(hook, { HOOK: '0123456789abcdef0123456789abcdef' }).size).toBe(1);
  });

  test.each(['abc', 'g'.repeat(64), 'a'.repeat(63)])('%s is refused as the SHA-256 of a token', (written) => {
    expect(problems(`webhookTokenSha256: ${written}`)).toEqual([
      expect.stringMatching(/^accounts\.yaml:6:25: .*expected 64 hexadecimal digits/i),
    ]);
  });
});

describe('checks of callers', () => {
  const settings = (receiver: string) => `${hook}\nreceiver: ${receiver}`;

  test.each([
    '{ basic: { user: volley, password: hunter2 } }',
    '{ credentials: { sender: a, apiKey: hunter2 } }',
    '{ credentials: hunter2 }',
    '{ credentials: [hunter2] }',
    '{ signature: { secret: whsec_hunter2 } }',
  ])('secrets must be environment variables, and errors do not show them: %s', (receiver) => {
    const shown = problems(settings(receiver)).join('\n');
    expect(shown).toMatch(/\$\{NAME\}/);
    expect(shown).not.toContain('hunter2');
  });

  test.each(['203.0.113.0/33', '203.0.113', '2001:db8::/129', 'example.com', '203.0.113.1/', '1.2.3.4/-1'])(
    'the invalid address %s is reported when the file is checked',
    (address) => {
      const source = file(settings(`{ addresses: ["${address}"] }`));
      expect(problemsThrown(() => openAccounts(source, 'accounts.yaml').read('main', environment))).toEqual([
        `accounts.yaml:7:29: "accounts.main.receiver.addresses.0": expected an IP address, or a range such as 203.0.113.0/24, got "${address}".`,
      ]);
    },
  );

  test('an empty list of addresses is refused', () => {
    expect(problems(settings('{ addresses: [] }'))).toEqual([
      expect.stringContaining('expected one address or more'),
    ]);
  });

  test("the account's own credentials can be required only if the account has them", () => {
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
  ])('a signature key must have 24 to 64 bytes, so %s is refused', (key) => {
    const lines = settings('{ signature: { secret: "${SIGNATURE}" } }');
    expect(problems(lines, { ...environment, SIGNATURE: key })).toEqual([
      'accounts.yaml:7:38: The key of the signature must be whsec_ and 24 to 64 bytes in base64.',
    ]);
    expect(read(lines).get('main')?.signatureKey).toEqual(Buffer.alloc(24, 7));
  });
});
