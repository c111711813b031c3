import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { closePages, openBrowser } from '../../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { volleyInProcess } from '../../support/volley.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

/** Pages are made by the command, from a campaign and hostile rows. */

let browser: Browser;
let database: TestDatabase;
let workspace: Workspace;
let peer: Server;
/** What a page asked of a service outside of it. */
const asked: string[] = [];
let outside: string;
beforeAll(async () => {
  peer = createServer((socket) => {
    socket.once('data', (bytes) => {
      asked.push(bytes.toString().split(' ')[1] ?? '');
      socket.destroy();
    });
  }).listen(0, '127.0.0.1');
  await once(peer, 'listening');
  const address = peer.address();
  outside = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  [browser, workspace, database] = await Promise.all([openBrowser(), makeWorkspace(), createTestDatabase()]);
  await workspace.write(
    'accounts.yaml',
    `accounts:
  main: { interface: rest-2.02, baseUrl: "http://127.0.0.1:9", authToken: "\${TOKEN}" }
  earlier: { interface: rest-1.04, baseUrl: "http://127.0.0.1:9", sender: us@example.com, apiKey: "\${TOKEN}" }
`,
  );
  await workspace.write('terms.pdf', pdf);
  const hostile = `<script>document.title='hit'</script>"><img src=${outside}/value.png onerror=alert(1)>`;
  const values = [
    'ok',
    hostile,
    `\u202eevil\u2069${'y'.repeat(10_000)}`,
    'مرحبا بك',
    `“👩‍👧” … ${'x'.repeat(70)}`,
  ];
  const rows = values.map((value, index) => {
    return `+6141200000${index},a${index}@example.com,${index === 1 ? '' : `Name ${index}`},"${value.replaceAll('"', '""')}"`;
  });
  await workspace.write('contacts.csv', ['phone,mail,name,note', ...rows, 'nope,none,Zed,x', ''].join('\n'));
  for (const [channel, [account, column, message]] of Object.entries(campaigns()))
    await workspace.write(
      `${channel}.yaml`,
      `campaign: ${channel}\naccount: ${account}\nchannel: ${channel}\ncontacts: { file: contacts.csv, country: AU, maxInvalid: 100%, columns: { Recipient: ${column}, Attention: name } }\n${message}`,
    );
});
afterAll(async () => {
  await closePages();
  await database.drop();
  peer.close();
  await workspace[Symbol.asyncDispose]();
});

/** Two pages, without compression. */
const pdf =
  '%PDF-1.4\n1 0 obj<</Type/Pages/Count 2/Kids[2 0 R 3 0 R]>>endobj 2 0 obj<</Type/Page>>endobj 3 0 obj<</Type/Page>>endobj\n';

function campaigns(): Readonly<Record<string, readonly [string, string, string]>> {
  const html = `<link rel=preconnect href=${outside}><style>@import url(${outside}/i.css); p { background: url(${outside}/b.png) }</style><h1 style='color: rgb(0, 170, 85)'>Hello [[name|friend]]</h1><p>[[note]]</p><img src=${outside}/logo.png><script>fetch('${outside}/s'); document.title = 'hit'</script><meta http-equiv=refresh content='0;url=${outside}/r'><iframe src=${outside}/f></iframe><a href=${outside}/click>Open</a>`;
  return {
    sms: [
      'main',
      'phone',
      'message: { Message: "Hi [[name|friend]]: [[note]] [[STOP]]", FromNumber: "2112" }\n',
    ],
    email: [
      'main',
      'mail',
      `message:\n  EmailSubject: "For [[name|you]]"\n  From: Bank\n  FromEmail: bank@example.com\n  ReplyTo: help@example.com\n  MessagePlain: "Plain [[note]]"\n  MessageHTML: "${html}"\nattachments: .\nfiles: [{ file: terms.pdf }]\n`,
    ],
    fax: [
      'main',
      'phone',
      'message: { Message: "Dear [[name|customer]]", CSID: Bank }\nattachments: .\nfiles: [{ file: terms.pdf }]\n',
    ],
    tts: [
      'earlier',
      'phone',
      'message: { MessageToPeople: "Hello [[name|there]], you owe 250.50. [[note]]", Keypads: [{ Tone: 1, RouteNumber: "+61255509999" }] }\n',
    ],
  };
}

let pages = 0;

/** Opens the page of a campaign, with scripts off as some readers have them. */
async function open(channel: string, rows: string | undefined, width = 1280): Promise<Page> {
  const out = `${channel}-${++pages}.html`;
  const { code, stderr } = await volleyInProcess(
    ['plan', `${channel}.yaml`, '--preview', out, ...(rows === undefined ? [] : ['--rows', rows])],
    {
      cwd: workspace.folder,
      env: { DATABASE_URL: database.url, VOLLEY_ACCOUNTS: 'accounts.yaml', TOKEN: 'x' },
    },
  );
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(` in ${out}`) });
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  page.on('dialog', (dialog) => {
    throw new Error(`shows ${dialog.message()}`);
  });
  await page.goto(`file://${workspace.folder}/${out}`);
  return page;
}

async function overflowOf(page: Page): Promise<unknown> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}

describe('a page of messages', () => {
  test('an SMS is shown as a phone with sender, parts, and the characters that force UCS-2', async () => {
    const page = await open('sms', '5');
    expect(await page.locator('.caller').textContent()).toBe('2112');
    const bubble = page.locator('.bubble');
    expect(await bubble.textContent()).toContain('Hi Name 4: “👩‍👧” … xxx');
    expect(await bubble.locator('.cut').allTextContents()).toEqual(['2']);
    expect(await bubble.locator('mark').allTextContents()).toEqual(['“', '👩‍👧', '”', '…']);
    expect(await bubble.locator('mark').first().getAttribute('title')).toBe(
      '“ (U+201C) forces UCS-2: write "',
    );
    expect(await page.locator('.facts').first().textContent()).toContain('2 in UCS-2');
    expect(await page.locator('.placeholders tbody tr').allTextContents()).toEqual([
      '[[name|friend]]MessageName 4the service, from Attention',
      expect.stringMatching(/^\[\[note\]\]Message“.*the service, from Custom1$/),
      '[[STOP]]Messagethe service, when it sends',
    ]);
    await page.close();
  });

  test('one row is shown at a time, and links choose it without a script', async () => {
    const page = await open('sms', '1,3,contacts.csv:5,6');
    const titles = async () => (await page.locator('h2:visible').allTextContents()).join();
    expect(await titles()).toBe('Row 1 line 2 of contacts.csv');
    await page.getByRole('link', { name: 'Next' }).click();
    expect(await titles()).toBe('Row 3 line 4 of contacts.csv');
    await page.getByRole('link', { name: 'Row 4' }).click();
    expect(await titles()).toBe('Row 4 line 5 of contacts.csv');
    await page.getByRole('link', { name: 'Row 6' }).click();
    expect(await page.locator('.note:visible').textContent()).toBe(
      'No message: invalid, column phone: "nope" is not a phone number.',
    );
    await page.close();
  });

  test('without named rows those are shown that differ', async () => {
    const page = await open('sms', undefined);
    expect(await page.locator('nav a').allTextContents()).toEqual([
      'Row 1 first, shortest, GSM-7',
      'Row 2 fallback used',
      'Row 3 longest, most parts, UCS-2',
      'Row 4 right to left',
    ]);
    await page.close();
  });

  test('an e-mail is shown with its headers, attachments, HTML and plain text', async () => {
    const page = await open('email', '1');
    const headers = await page.locator('.mail .facts > div').allTextContents();
    expect(headers).toEqual([
      'FromBank <bank@example.com>',
      'Reply-Tohelp@example.com',
      'Toa0@example.com',
      'SubjectFor Name 0',
    ]);
    expect(await page.locator('.files li').allTextContents()).toEqual([
      `terms.pdf ${pdf.length} bytes, 2 pages`,
    ]);
    const heading = page.frameLocator('iframe').locator('h1');
    expect(await heading.textContent()).toBe('Hello Name 0');
    const colour = `getComputedStyle(document.querySelector('h1')).color`;
    expect(await page.frames()[1]?.evaluate(colour)).toBe('rgb(0, 170, 85)');
    await page.locator('summary').click();
    expect(await page.locator('.plain').textContent()).toBe('Plain ok');
    await page.close();
  });

  test('nothing of a hostile message runs, and nothing leaves the page', async () => {
    const page = await open('email', '2');
    const frame = page.frameLocator('iframe');
    expect(await frame.locator('p').textContent()).toContain(`<script>document.title='hit'</script>`);
    await frame.getByRole('link', { name: 'Open' }).click();
    expect(await page.title()).toBe('Messages of email');
    expect(await page.locator('main script, main img').count()).toBe(0);
    const sms = await open('sms', '2');
    expect(await sms.locator('.bubble').textContent()).toContain(`<img src=${outside}`);
    expect(await sms.locator('main script, main img').count()).toBe(0);
    // What an ordinary page asks for arrives, after all that these pages would have asked for.
    const ordinary = await browser.newPage();
    const failure = ordinary.waitForEvent('requestfailed');
    await ordinary.setContent(`<img src="${outside}/ordinary.png">`);
    await failure;
    expect([...new Set(asked)]).toEqual(['/ordinary.png']);
    await Promise.all([page, sms, ordinary].map((each) => each.close()));
  });

  test('a fax is shown as sheets with its attention line and the pages of its documents', async () => {
    const page = await open('fax', '2');
    const sheets = await page.locator('.sheet').allTextContents();
    expect(sheets).toHaveLength(2);
    expect(sheets[0]).toMatch(/^From: Bank To: \+61412000001Dear customer$/);
    expect(sheets[1]).toContain('terms.pdf');
    expect(await page.locator('.facts').first().textContent()).toContain('2 pages of documents');
    await page.close();
  });

  test('a call is shown as a script with its keys and numbers', async () => {
    const page = await open('tts', '1');
    expect(await page.locator('.call h3').allTextContents()).toEqual([
      'The phone rings',
      'A person answers',
      'The person can press',
    ]);
    expect(await page.locator('blockquote .number').allTextContents()).toEqual(['0', '250.50']);
    expect(await page.locator('.keys').textContent()).toBe('Key 1 connects to +61255509999');
    await page.close();
  });

  test.each([
    ['sms', 360],
    ['email', 360],
    ['fax', 360],
    ['tts', 360],
    ['sms', 1280],
    ['sms', 1920],
  ])('10,000 characters of %s stay within a page of %i pixels', async (channel, width) => {
    const page = await open(channel, '3', width);
    expect(await overflowOf(page)).toBe(0);
    const codes = await page.locator('.reader .code').allTextContents();
    if (channel !== 'fax') expect(codes.slice(0, 2)).toEqual(['U+202E', 'U+2069']);
    await page.close();
  });

  test('right-to-left text runs from right to left in its bubble only', async () => {
    const page = await open('sms', '4');
    const direction = (selector: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${selector}')).direction`);
    expect(await direction('.placeholders tr:nth-child(2) td div')).toBe('rtl');
    expect(await direction('h2')).toBe('ltr');
    await page.close();
  });
});

describe('volley plan --preview', () => {
  const plan = (...words: string[]) =>
    volleyInProcess(['plan', 'sms.yaml', ...words], {
      cwd: workspace.folder,
      env: { DATABASE_URL: database.url, VOLLEY_ACCOUNTS: 'accounts.yaml', TOKEN: 'x' },
    });

  test('a file that exists is not overwritten', async () => {
    await workspace.write('there.html', 'mine');
    const { code, stderr } = await plan('--preview', 'there.html');
    expect(code).toBe(2);
    expect(stderr).toContain('it exists already');
    expect(await workspace.read('there.html')).toBe('mine');
  });

  test.each([
    [['--preview', 'no.html', '--rows', '1,700'], 'It asks for row 700, but there are only 6 contacts.'],
    [
      ['--preview', 'no.html', '--rows', 'contacts.csv:1'],
      'It asks for contacts.csv:1, but no contact begins there.',
    ],
    [
      ['--preview', 'no.html', '--rows', '0'],
      'expected numbers of contacts from 1, such as 1,7,500 or 10-12',
    ],
    [['--preview', 'no.html', '--rows', '1-201'], 'expected at most 200 rows'],
    [['--rows', '1'], 'name the page with --preview'],
  ])('%j is refused', async (words, why) => {
    const { code, stderr } = await plan(...words);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(why) });
    await expect(workspace.read('no.html')).rejects.toThrow('ENOENT');
  });
});
