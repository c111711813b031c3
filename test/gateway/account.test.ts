import { describe, expect, test } from 'vitest';
import { openAccounts } from '../../src/gateway/accounts-file.ts';
import { problemsThrown } from '../support/thrown-problems.ts';

const environment = {
  TOKEN: 'secret-token-value',
  KEY: 'secret-key-value',
  HOOK: 'secret_hook_value_of_22_chars',
  URL: 'https://service.example',
  EMPTY: '',
};

const accounts = (lines: string) => `accounts:\n  main:\n${lines.replace(/^/gm, '    ')}\n`;

const minimal = `interface: rest-2.02
baseUrl: https://service.example
authToken: \${TOKEN}`;

const read = (source: string, name = 'main', env: Record<string, string> = environment) =>
  openAccounts(source, 'accounts.yaml').read(name, env);

const problems = (source: string, name?: string, env?: Record<string, string>) =>
  problemsThrown(() => read(source, name, env));

describe('an account of an accounts file', () => {
  test('an account needs an interface, an address and a credential, and the rest has defaults', () => {
    expect(read(accounts(minimal))).toEqual({
      name: 'main',
      suppressionsOf: 'main',
      interface: 'rest-2.02',
      format: 'json',
      baseUrl: 'https://service.example',
      credentials: { kind: 'authToken', authToken: 'secret-token-value' },
      timeouts: { connect: 5_000, headers: 30_000, body: 30_000 },
      concurrency: 16,
      requestsPerSecond: null,
      recipientsPerSecond: null,
      confirmAboveRecipients: 10_000,
      statusLookUp: false,
      bringsReports: false,
      rates: [],
      ratesTimeZone: 'UTC',
    });
  });

  test('an account can set its timeouts and limits', () => {
    const more = `${minimal}\ntimeouts: { connect: 500ms, body: 2m }\nlimits: { concurrency: 3 }`;
    expect(read(accounts(more))).toMatchObject({
      timeouts: { connect: 500, headers: 30_000, body: 120_000 },
      concurrency: 3,
      requestsPerSecond: null,
      recipientsPerSecond: null,
      confirmAboveRecipients: 10_000,
      statusLookUp: false,
    });
  });

  test.each([
    [
      'rest-1.04',
      'sender: ann@example.com\napiKey: ${KEY}',
      { kind: 'apiKey', sender: 'ann@example.com', apiKey: 'secret-key-value' },
    ],
    [
      'rest-1.02',
      'sender: 0123\napiKey: ${KEY}',
      { kind: 'apiKey', sender: '0123', apiKey: 'secret-key-value' },
    ],
    [
      'soap-tts',
      'sender: ann\ntoken: ${TOKEN}',
      { kind: 'senderToken', sender: 'ann', token: 'secret-token-value' },
    ],
  ])('an account of %s has the credential of that interface', (name, credential, credentials) => {
    const source = accounts(`interface: ${name}\nbaseUrl: https://service.example\n${credential}`);
    expect(read(source).credentials).toEqual(credentials);
  });

  test.each([
    ['rest-2.02', ['authToken']],
    ['rest-1.04', ['sender', 'apiKey']],
    ['soap-tts', ['sender', 'token']],
  ])('an account of %s without its credential is refused with the keys that it needs', (name, keys) => {
    expect(problems(accounts(`interface: ${name}\nbaseUrl: https://service.example`))).toEqual(
      keys.map((key) => `accounts.yaml:3:5: Account "main" needs "${key}" for ${name}.`),
    );
  });

  test('an unknown account is refused with the nearest name and all names', () => {
    expect(problems(accounts(minimal), 'mian')).toEqual([
      'accounts.yaml: accounts.yaml has no account "mian". Did you mean "main"? Its accounts: main.',
    ]);
    expect(problems('accounts: {}', 'main')).toEqual([
      'accounts.yaml: accounts.yaml has no account "main". Its accounts: none.',
    ]);
  });

  test.each(['constructor', 'toString', '__proto__'])('an account named %s can be read', (name) => {
    expect(problems(accounts(minimal), name)).toEqual([expect.stringContaining(`has no account "${name}"`)]);
  });

  test('every error in the file is reported, with the nearest known key at each level', () => {
    const faulty = `interfase: rest-2.02
interface: rest-2.03
format: jsn
baseUrl: https://service.example
timeouts: { conect: 5s, body: soon }
limits: { concurency: 1, concurrency: 999 }`;
    expect(problems(accounts(faulty))).toEqual([
      expect.stringContaining(
        'accounts.yaml:3:5: Unknown key "interfase" in "accounts.main". Did you mean "interface"?',
      ),
      'accounts.yaml:4:16: "accounts.main.interface": expected rest-2.02, rest-1.04, rest-1.02 or soap-tts, got "rest-2.03". Did you mean "rest-2.02"?',
      'accounts.yaml:5:13: "accounts.main.format": expected json or xml, got "jsn". Did you mean "json"?',
      'accounts.yaml:7:17: Unknown key "conect" in "accounts.main.timeouts". Did you mean "connect"? Known here: connect, headers, body.',
      'accounts.yaml:7:35: "accounts.main.timeouts.body": expected a duration such as 500ms, 5s, 2m, 2h or 7d, got "soon".',
      'accounts.yaml:8:15: Unknown key "concurency" in "accounts.main.limits". Did you mean "concurrency"? Known here: concurrency, requestsPerSecond, recipientsPerSecond, recipientsPerDay, confirmAboveRecipients.',
      'accounts.yaml:8:43: "accounts.main.limits.concurrency": expected a whole number from 1 to 256, got "999".',
    ]);
  });
});

describe('${NAME} in an accounts file', () => {
  test('a variable that is not set, or empty, is reported with its position', () => {
    const source = accounts(
      minimal.replace('TOKEN', 'NOWHERE').replace('https://service.example', '${EMPTY}'),
    );
    expect(problems(source)).toEqual([
      'accounts.yaml:4:14: Environment variable EMPTY is not set.',
      'accounts.yaml:5:16: Environment variable NOWHERE is not set.',
    ]);
  });

  test('a variable of another account need not be set', () => {
    const other = `  other:\n    interface: rest-2.02\n    baseUrl: \${A}\n    authToken: \${B}\n    webhookToken: \${C}\n`;
    expect(read(accounts(minimal) + other).name).toBe('main');
  });

  test('a variable in the address can have a default, which applies when the variable is not set or empty', () => {
    const at = (baseUrl: string) =>
      read(accounts(minimal.replace('https://service.example', baseUrl))).baseUrl;
    expect(at('${NOWHERE:-http://127.0.0.1:8025}')).toBe('http://127.0.0.1:8025');
    expect(at('${EMPTY:-http://127.0.0.1:8025}')).toBe('http://127.0.0.1:8025');
    expect(at('${URL:-http://127.0.0.1:8025}')).toBe('https://service.example');
    expect(at('${URL}/v2/')).toBe('https://service.example/v2');
  });

  test('an empty default "${NAME:-}" is refused', () => {
    expect(problems(accounts(minimal.replace('https://service.example', '${NOWHERE:-}')))).toEqual([
      'accounts.yaml:4:14: Environment variable NOWHERE is not set.',
    ]);
  });

  test('the value of a variable is used unchanged, even "$&"', () => {
    const env = { ...environment, TOKEN: "a$&b$1c$'" };
    expect(read(accounts(minimal), 'main', env).credentials).toMatchObject({ authToken: "a$&b$1c$'" });
  });
});

describe('the key allow', () => {
  test('allowed values are listed by field, and numbers also as ranges', () => {
    const source = accounts(
      `${minimal}\nallow: { Resolution: [Fine], RetryAttempts: [7, 9-12], SendMode: [Test] }`,
    );
    expect(read(source).allow).toEqual({
      Resolution: ['Fine'],
      RetryAttempts: ['7', '9-12'],
      SendMode: ['Test'],
    });
  });

  test.each([
    [
      'Resolutoin: [Fine]',
      'rest-2.02 has no field of this name whose values can be allowed. Did you mean "Resolution"?',
    ],
    ['WebhookCallbackFormat: [CSV]', 'rest-2.02 has no field of this name whose values can be allowed.'],
    ['RetryPeriod: [long]', 'expected a whole number such as 9, or a range such as 6-9, got "long".'],
    ['RetryPeriod: [9-6]', 'expected a whole number such as 9, or a range such as 6-9, got "9-6".'],
    ['RetryPeriod: []', 'expected at least one value'],
  ])('the entry { %s } is refused', (allow, problem) => {
    expect(problems(accounts(`${minimal}\nallow: { ${allow} }`))).toEqual([expect.stringContaining(problem)]);
  });
});

describe('the rate card: prices', () => {
  const withRates = (...rates: readonly string[]): string =>
    accounts([minimal, 'rates:', ...rates.map((rate) => `  - { ${rate} }`)].join('\n'));
  const sms = 'channel: sms, unit: part, price: 0.08, currency: NZD';

  test('a rate has a price for the unit of each channel, exactly as it is written', () => {
    const source = withRates(
      sms,
      'channel: email, unit: email, price: 0, currency: NZD',
      'channel: fax, unit: page, price: 1000000, currency: NZD',
      'channel: voice, unit: second, price: 0.00000001, currency: NZD',
      'channel: tts, unit: second, price: "0.0100", currency: NZD',
    );
    expect(read(source).rates).toEqual([
      { channel: 'sms', unit: 'part', price: '0.08', currency: 'NZD' },
      { channel: 'email', unit: 'email', price: '0', currency: 'NZD' },
      { channel: 'fax', unit: 'page', price: '1000000', currency: 'NZD' },
      { channel: 'voice', unit: 'second', price: '0.00000001', currency: 'NZD' },
      { channel: 'tts', unit: 'second', price: '0.0100', currency: 'NZD' },
    ]);
  });

  test.each([
    [
      'channel: fax, unit: part, price: 1, currency: NZD',
      '31: "accounts.main.rates.0.unit": expected page, the unit of fax, got "part".',
    ],
    [
      'channel: sms, unit: parts, price: 1, currency: NZD',
      '31: "accounts.main.rates.0.unit": expected email, part, page or second, got "parts". Did you mean "part"?',
    ],
    [
      'channel: sms, unit: part, price: 1e3, currency: NZD',
      '44: "accounts.main.rates.0.price": expected an amount from 0 to 1000000, such as 12.50, with at most 8 decimals, got "1e3".',
    ],
    [
      'channel: sms, unit: part, price: 1000000.01, currency: NZD',
      '44: "accounts.main.rates.0.price": expected an amount from 0 to 1000000, such as 12.50, with at most 8 decimals, got "1000000.01".',
    ],
    [
      'channel: sms, unit: part, price: 1, currency: nzd',
      '57: "accounts.main.rates.0.currency": expected three capital letters, such as NZD, got "nzd".',
    ],
  ])('the rate { %s } is refused', (rate, problem) => {
    expect(problems(withRates(rate))).toEqual([`accounts.yaml:7:${problem}`]);
  });

  test('rates can differ by destination and time, and can have a tax', () => {
    const source = withRates(
      `${sms}, until: 2026-11-01`,
      `${sms}, from: 2026-11-01, tax: 0.15`,
      `${sms}, destination: NO`,
      `${sms}, destination: +6421, until: 2026-11-01`,
    ).replace('rates:', 'ratesTimeZone: Pacific/Auckland\n    rates:');
    const { rates, ratesTimeZone } = read(source);
    const rate = { channel: 'sms', unit: 'part', price: '0.08', currency: 'NZD' };
    expect(rates).toEqual([
      { ...rate, until: '2026-11-01' },
      { ...rate, from: '2026-11-01', tax: '0.15' },
      { ...rate, destination: 'NO' },
      { ...rate, destination: '+6421', until: '2026-11-01' },
    ]);
    expect(ratesTimeZone).toBe('Pacific/Auckland');
  });

  test.each([
    [
      'destination: XX',
      'destination',
      'a country of two capital letters, such as NZ, or the start of a number, such as +6421, got "XX"',
    ],
    [
      'destination: nz',
      'destination',
      'a country of two capital letters, such as NZ, or the start of a number, such as +6421, got "nz"',
    ],
    [
      'destination: +999',
      'destination',
      'a country of two capital letters, such as NZ, or the start of a number, such as +6421, got "+999"',
    ],
    [
      'destination: 6421',
      'destination',
      'a country of two capital letters, such as NZ, or the start of a number, such as +6421, got "6421"',
    ],
    ['from: 2026-02-29', 'from', 'a date such as 2026-11-01, got "2026-02-29"'],
    [
      'from: 2026-11-01, until: 2026-11-01',
      'until',
      'a day after 2026-11-01, the first valid day, got "2026-11-01"',
    ],
    [
      'from: 2026-11-01, until: 2026-10-31',
      'until',
      'a day after 2026-11-01, the first valid day, got "2026-10-31"',
    ],
    ['tax: 15', 'tax', 'a share from 0 to 1, such as 0.15, with at most 8 decimals, got "15"'],
  ])('the rate with { %s } is refused', (more, key, expected) => {
    const column = `      - { ${sms}, ${more}`.indexOf(`${key}: `) + key.length + 3;
    expect(problems(withRates(`${sms}, ${more}`))).toEqual([
      `accounts.yaml:7:${column}: "accounts.main.rates.0.${key}": expected ${expected}.`,
    ]);
  });

  test('a rate for email with a destination is refused', () => {
    expect(
      problems(withRates('channel: email, unit: email, destination: NZ, price: 1, currency: NZD')),
    ).toEqual([
      'accounts.yaml:7:53: "accounts.main.rates.0.destination": expected none, because email has no country, got "NZ".',
    ]);
  });

  test('a time zone outside the IANA database is refused', () => {
    const source = withRates(sms).replace('rates:', 'ratesTimeZone: +12:00\n    rates:');
    expect(problems(source)).toEqual([
      'accounts.yaml:6:20: "accounts.main.ratesTimeZone": expected a time zone such as Pacific/Auckland or UTC, got "+12:00".',
    ]);
  });

  test.each([
    [[sms, sms], '20: "accounts.main.rates.1.channel"', 'sms, got "sms"'],
    [
      [`${sms}, destination: NZ`, `${sms}, destination: NZ`],
      '78: "accounts.main.rates.1.destination"',
      'sms to NZ, got "NZ"',
    ],
    [
      [`${sms}, until: 2026-11-02`, `${sms}, from: 2026-11-01`],
      '71: "accounts.main.rates.1.from"',
      'sms until before 2026-11-02, got "2026-11-01"',
    ],
    [
      [`${sms}, from: 2026-11-01`, `${sms}, until: 2026-11-02`],
      '20: "accounts.main.rates.1.channel"',
      'sms from 2026-11-01, got "sms"',
    ],
  ])('two rates for one channel, destination and time are refused: %j', (rates, position, words) => {
    expect(problems(withRates(...rates))).toEqual([
      `accounts.yaml:8:${position}: expected other days or another destination than rates.0, which is for ${words}.`,
    ]);
  });

  test('every rate that overlaps a longer one is reported', () => {
    const spans = [
      'from: 2026-01-01, until: 2027-01-01',
      'from: 2026-03-01, until: 2026-04-01',
      'from: 2026-06-01',
    ];
    expect(
      problems(withRates(...spans.map((span) => `${sms}, ${span}`))).map((problem) => problem.split(':')[1]),
    ).toEqual(['8', '9']);
  });

  test('rates in two currencies are refused', () => {
    expect(problems(withRates(sms, 'channel: email, unit: email, price: 1, currency: AUD'))).toEqual([
      'accounts.yaml:8:60: "accounts.main.rates.1.currency": expected NZD, the currency of the other rates, got "AUD".',
    ]);
  });
});

describe('the key format', () => {
  const soap = 'interface: soap-tts\nbaseUrl: https://service.example/tts/\nsender: ann\ntoken: ${TOKEN}';

  test("the format is the account's, JSON or XML", () => {
    expect(read(accounts(`${minimal}\nformat: xml`))).toMatchObject({ format: 'xml' });
    expect(read(accounts(`${minimal}\nformat: json`))).toMatchObject({ format: 'json' });
  });

  test('SOAP is always XML, even if the account does not name a format', () => {
    expect(read(accounts(soap))).toMatchObject({ format: 'xml' });
    expect(read(accounts(`${soap}\nformat: xml`))).toMatchObject({ format: 'xml' });
  });

  test('SOAP in JSON is refused', () => {
    expect(problems(accounts(`${soap}\nformat: json`))).toEqual([
      'accounts.yaml:7:13: "format": soap-tts is always xml; leave the line out.',
    ]);
  });
});

describe('the key baseUrl', () => {
  test('a trailing slash of a SOAP address is kept, because it is the endpoint itself', () => {
    const soap = 'interface: soap-tts\nbaseUrl: https://service.example/tts/\nsender: ann\ntoken: ${TOKEN}';
    expect(read(accounts(soap)).baseUrl).toBe('https://service.example/tts/');
  });

  test.each(['http://127.0.0.1:8025', 'https://service.example/base/', 'https://service.example//'])(
    'the address %s is accepted',
    (baseUrl) => {
      const account = read(accounts(minimal.replace('https://service.example', baseUrl)));
      expect(account.baseUrl).toBe(baseUrl.replace(/\/+$/, ''));
    },
  );

  test.each(['http://service.example', 'http://192.0.2.7:8025', 'http://localhost.evil.example'])(
    'the address %s leaves this machine unencrypted, and is refused unless plainHttp is allowed',
    (baseUrl) => {
      const source = accounts(minimal.replace('https://service.example', baseUrl));
      expect(problems(source)).toEqual([
        expect.stringMatching(
          /^accounts.yaml:4:14: "baseUrl" is http:\/\/ on another machine.*plainHttp: allowed/,
        ),
      ]);
      expect(read(`${source}\n    plainHttp: allowed`).baseUrl).toBe(baseUrl);
    },
  );
  test('an address of rest-2.02 can name a version that the interface speaks, and no other', () => {
    const at = (end: string) =>
      accounts(minimal.replace('https://service.example', `https://service.example${end}`));
    expect(read(at('/api/v2.04/')).baseUrl).toBe('https://service.example/api/v2.04');
    expect(problems(at('/api/v3.00'))).toEqual([
      'accounts.yaml:4:14: "baseUrl" names version v3.00; rest-2.02 speaks v2.02, v2.03 or v2.04. Leave the version out for v2.02.',
    ]);
  });

  test.each([
    'service.example',
    'ftp://service.example',
    'https://',
    'file:///etc/passwd',
    'javascript:1',
    'https://ann:hunter2@service.example',
    'https://hunter2@service.example',
    'https://service.example?token=hunter2',
    'https://service.example/#hunter2',
    '${TOKEN}',
  ])('the address %s is refused, and not shown in the error', (baseUrl) => {
    expect(problems(accounts(minimal.replace('https://service.example', baseUrl)))).toEqual([
      'accounts.yaml:4:14: "baseUrl" must be an http:// or https:// address without user, password, query and fragment.',
    ]);
  });
});

describe('secrets', () => {
  const secretKeys = ['authToken', 'apiKey', 'token', 'webhookToken'];

  test.each(secretKeys)('a literal secret in the file is refused, and not shown in the error: %s', (key) => {
    const source = accounts(`interface: rest-2.02\nbaseUrl: https://service.example\n${key}: hunter2`);
    expect(problems(source)).toEqual([
      `accounts.yaml:5:${7 + key.length}: "accounts.main.${key}": a secret must not be in the file; write \${NAME} and set NAME in the environment.`,
    ]);
  });

  test.each([
    'hunter2${TOKEN}',
    '${TOKEN:-hunter2}',
    '[hunter2]',
    '{ hunter2: x }',
    '"hunter2',
    '"hunter2" x',
    '*hunter2',
    '!hunter2 x',
  ])('an invalid reference is refused, and no error shows it: %s', (written) => {
    for (const key of secretKeys) {
      const source = accounts(`interface: rest-2.02\nbaseUrl: https://service.example\n${key}: ${written}`);
      const shown = [
        ...problems(source),
        ...problemsThrown(() => openAccounts(source, 'accounts.yaml').readReceivers(environment)),
      ];
      expect(shown.length).toBeGreaterThan(0);
      expect(shown.join('\n')).not.toContain('hunter2');
    }
  });

  test.each(['hunter2\n', 'hun ter2', 'hunter2\r\nX-Header: 1', 'hünter2', 'hunter2\0'])(
    'a secret that a header cannot carry is refused, and not shown: %j',
    (value) => {
      expect(problems(accounts(minimal), 'main', { TOKEN: value })).toEqual([
        'accounts.yaml:5:16: The value of "authToken" contains a space, a line break or a character outside ASCII; expected none.',
      ]);
    },
  );
});

test('a file is opened once for all its accounts: one that lacks a secret does not keep others from being read', () => {
  const file = `${accounts(`${minimal}\nlimits: { requestsPerSecond: 7 }`)}  other:\n    interface: rest-2.02\n    baseUrl: https://other.example\n    authToken: \${UNSET}\n`;
  const opened = openAccounts(file, 'accounts.yaml');
  expect(opened.names).toEqual(['main', 'other']);
  expect(opened.limits.get('main')).toEqual({ requestsPerSecond: 7, recipientsPerSecond: null });
  expect(opened.limits.get('other')).toEqual({ requestsPerSecond: null, recipientsPerSecond: null });
  expect(opened.read('main', environment)).toEqual(read(file));
  expect(problemsThrown(() => opened.read('other', environment))).toEqual([
    'accounts.yaml:10:16: Environment variable UNSET is not set.',
  ]);
});

test('an account of a service with https is refused while certificates are not checked, unless it says that they need not be', () => {
  const env = { ...environment, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  expect(problems(accounts(minimal), 'main', env)).toEqual([
    expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates'),
  ]);
  expect(read(accounts(`${minimal}\ncertificates: unchecked`), 'main', env).name).toBe('main');
  const local = minimal.replace('https://service.example', 'https://127.0.0.1:8025');
  expect(read(accounts(local), 'main', env).name).toBe('main');
});

test('a form of ttsReturn belongs to soap-tts, and a pattern that cannot be used is found at its line', () => {
  const soap = `interface: soap-tts
baseUrl: https://service.example/tts
sender: me
token: \${TOKEN}`;
  const taught = read(accounts(`${soap}\nttsReturn: { pattern: 'Accepted as ([0-9]+)' }`)).ttsReturn;
  expect([taught?.number, taught?.pattern.test('accepted as 12')]).toEqual([1, true]);
  expect(problems(accounts(`${soap}\nttsReturn: { pattern: '(a+)+' }`))).toEqual([
    expect.stringMatching(/^accounts\.yaml:7:27: "accounts\.main\.ttsReturn\.pattern": .* repeats a group/),
  ]);
  expect(problems(accounts(`${minimal}\nttsReturn: { pattern: '([0-9]+)' }`))).toEqual([
    expect.stringContaining('only soap-tts answers so'),
  ]);
});

describe('caps of an account', () => {
  const capped = (more: string, project = '') => `${accounts(`${minimal}\n${more}`)}${project}`;

  test('an account has its own caps and those of the project', () => {
    const source = capped(
      'limits: { recipientsPerDay: 500 }\nfrequency: { most: 3, within: 7d, over: [sms, email] }',
      'frequency: { most: 5, within: 30d }\n',
    );
    expect(read(source).caps).toEqual({
      recipientsPerDay: 500,
      frequency: [
        { of: 'account', most: 3, milliseconds: 604_800_000, over: ['sms', 'email'] },
        {
          of: 'project',
          most: 5,
          milliseconds: 2_592_000_000,
          over: ['email', 'sms', 'fax', 'voice', 'tts'],
        },
      ],
    });
    expect(read(accounts(minimal))).not.toHaveProperty('caps');
  });

  test.each([
    ['frequency: { most: 0, within: 7d }', '6:24', 'expected a whole number from 1 to 1000, got "0"'],
    [
      'frequency: { most: 3, within: 400d }',
      '6:35',
      'expected a duration from 1s to 366d, such as 7d: older records may be deleted, got "400d"',
    ],
    [
      'frequency: { most: 3, within: 7d, over: [sms, voice] }',
      '6:51',
      'expected a channel of the account: email, sms, fax',
    ],
    ['frequency: { most: 3, within: 7d, over: [] }', '6:45', 'expected at least one channel'],
    ['frequency: { most: 3 }', '6:16', 'within'],
    ['limits: { recipientsPerDay: 0 }', '6:33', 'expected a whole number from 1 to 999999999'],
  ])('%s is refused at its place', (written, place, what) => {
    const [problem, ...others] = problems(capped(written));
    expect(others).toEqual([]);
    expect(problem).toContain(`accounts.yaml:${place}: `);
    expect(problem).toContain(what);
  });
});
