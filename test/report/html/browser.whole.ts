import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { formatRunReport } from '../../../src/report/run/format-run-report.ts';
import { closePages, openBrowser } from '../../support/browser.ts';
import { aBill, hostileNames, pageOf } from '../../support/pages.ts';
import { aReportedRun } from '../../support/run-pages.ts';
import { concatenate } from '../../support/sheets.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let browser: Browser;
let workspace: Workspace;
let page: Page;
/** Requests, dialogs and errors that a page must not cause. */
let violations: string[];
beforeAll(async () => {
  [browser, workspace] = await Promise.all([openBrowser(), makeWorkspace()]);
});
afterAll(async () => {
  await closePages();
  await workspace[Symbol.asyncDispose]();
});
beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  violations = [];
  page.on('request', (request) => {
    if (request.url() !== address()) violations.push(`asks for ${request.url()}`);
  });
  page.on('console', (message) => violations.push(`says ${message.text()}`));
  page.on('pageerror', (error) => violations.push(`fails: ${error.message}`));
  page.on('dialog', (dialog) => {
    violations.push(`shows ${dialog.message()}`);
    void dialog.dismiss();
  });
});
afterEach(async () => {
  await page.close();
  expect(violations).toEqual([]);
});

const address = (): string => `file://${workspace.folder}/bill.html`;

/** Opens a bill with this number of columns. */
async function open(columns = 10): Promise<void> {
  await workspace.write('bill.html', await pageOf(aBill(columns)));
  await page.goto(address());
}

const boxSchema = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
type Box = z.infer<typeof boxSchema>;
const chartSchema = z.object({ frame: boxSchema, labels: z.array(boxSchema.extend({ text: z.string() })) });

/** The positions of charts and their labels. */
async function chartsOf(shown: Page): Promise<z.infer<typeof chartSchema>[]> {
  const program = `Array.from(document.querySelectorAll('svg'), (chart) => ({
    frame: chart.getBoundingClientRect().toJSON(),
    labels: Array.from(chart.querySelectorAll('text'), (label) => ({ ...label.getBoundingClientRect().toJSON(), text: label.textContent })),
  }))`;
  return z.array(chartSchema).parse(await shown.evaluate(program));
}

async function boxOf(what: Locator): Promise<Box> {
  const box = await what.boundingBox();
  if (!box) throw new Error('It is not to be seen.');
  return box;
}

const boxesOf = async (what: Locator): Promise<Box[]> => Promise.all((await what.all()).map(boxOf));

const isOverlapping = (one: Box, other: Box): boolean =>
  one.x < other.x + other.width - 0.5 &&
  other.x < one.x + one.width - 0.5 &&
  one.y < other.y + other.height - 0.5 &&
  other.y < one.y + one.height - 0.5;

/** Allows one pixel, because browsers enlarge small letters. */
const isWithin = (inner: Box, outer: Box): boolean =>
  inner.x >= outer.x - 1 &&
  inner.y >= outer.y - 1 &&
  inner.x + inner.width <= outer.x + outer.width + 1 &&
  inner.y + inner.height <= outer.y + outer.height + 1;

/** Without those of the charts. */
const lines = 'section.lines table';

/** How far the page extends beyond its window, in pixels. */
async function measureOverflow(): Promise<number> {
  const width = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  return z.number().parse(width);
}

describe('charts in a browser', () => {
  test('all charts are visible within their columns', async () => {
    await open();
    const [figures, drawings] = [await boxesOf(page.locator('figure')), await boxesOf(page.locator('svg'))];
    expect(drawings).toHaveLength(7);
    for (const [index, drawing] of drawings.entries()) {
      expect(drawing.height).toBeGreaterThan(15);
      expect(drawing.width).toBe(figures[index]?.width);
    }
  });

  test.each([
    ['screen', 1280],
    ['screen', 700],
    ['screen', 360],
    ['print', 703],
  ] as const)('labels are complete and do not overlap, on a %s of %d pixels', async (media, width) => {
    await open();
    await page.emulateMedia({ media });
    await page.setViewportSize({ width, height: 900 });
    for (const { frame, labels } of await chartsOf(page)) {
      for (const [index, label] of labels.entries()) {
        expect({ label, frame, within: isWithin(label, frame) }).toMatchObject({ within: true });
        const others = labels.filter(
          (other, otherIndex) => otherIndex > index && isOverlapping(label, other),
        );
        expect({ label, others }).toEqual({ label, others: [] });
      }
    }
  });

  test('charts have names and descriptions for screen readers', async () => {
    await open();
    const chart = page.getByRole('img', { name: 'Cost by ChargeCode (NZD) C-1 100.00, Credit -23.50' });
    expect(await chart.count()).toBe(1);
  });
});

test('hostile names are shown as text', async () => {
  await open();
  const names = await page.locator('section.lines tbody th').allTextContents();
  expect(names.slice(0, hostileNames.length)).toEqual([...hostileNames.slice(0, -1), 'a\\x00b\\x1b[2J']);
  expect(await page.locator('script, img, b').count()).toBe(0);
});

test('a right-to-left name runs from right to left', async () => {
  await open();
  const direction = await page.evaluate(
    `getComputedStyle(document.querySelectorAll('section.lines tbody th')[4]).direction`,
  );
  expect(direction).toBe('rtl');
});

test('a right-to-left name does so in a chart too, and is shortened at its left', async () => {
  await open();
  const program = `((name) => [0, name.getNumberOfChars() - 1].map((index) => name.getStartPositionOfChar(index).x))(
    Array.from(document.querySelectorAll('svg text')).find(({ textContent }) => /^قسم.*…$/.test(textContent)))`;
  const [first = 0, last = 0] = z.array(z.number()).parse(await page.evaluate(program));
  expect(last).toBeLessThan(first);
});

test('on a screen the page does not overflow and shows all columns', async () => {
  await open();
  expect(await measureOverflow()).toBe(0);
  const [table, section] = [await boxOf(page.locator(lines)), await boxOf(page.locator('section.lines'))];
  expect(isWithin({ ...table, y: section.y, height: 0 }, section)).toBe(true);
});

test('a table that is too wide scrolls in its frame by the keyboard, and its first column and totals stay visible', async () => {
  await open(24);
  expect(await measureOverflow()).toBe(0);
  const frame = page.locator('section.lines');
  const [last, first, total] = ['thead th:last-child', 'tbody tr:first-child th', 'tfoot th'].map((cell) =>
    frame.locator(cell),
  );
  if (!last || !first || !total) throw new Error('no cells');
  const isShown = async (cell: Locator): Promise<boolean> => isWithin(await boxOf(cell), await boxOf(frame));
  expect(await isShown(last)).toBe(false);
  expect(await isShown(total)).toBe(true);
  await frame.focus();
  await expect
    .poll(async () => {
      await page.keyboard.press('ArrowRight');
      return isShown(last);
    })
    .toBe(true);
  expect(await isShown(first)).toBe(true);
});

test('the figures of a chart open by the keyboard, as a table', async () => {
  await open();
  const figure = page.locator('figure', { hasText: 'Cost by ChargeCode (NZD)' });
  await figure.locator('summary').focus();
  await page.keyboard.press('Enter');
  const table = page.getByRole('table', { name: 'Cost by ChargeCode (NZD)' });
  expect(await table.getByRole('row').allTextContents()).toEqual(['NameAmount', 'C-1100.00', 'Credit-23.50']);
  await page.emulateMedia({ media: 'print' });
  expect(await table.isVisible()).toBe(false);
});

test('on a phone the table scrolls, not the page', async () => {
  await open();
  await page.setViewportSize({ width: 360, height: 800 });
  expect(await measureOverflow()).toBe(0);
});

/** Within margins of 12 mm, in pixels of 1/96 inch. */
const portraitWidth = 703;
const landscapeWidth = 1032;

test.each([
  [5, portraitWidth],
  [8, portraitWidth],
  [9, landscapeWidth],
  [14, landscapeWidth],
  [18, landscapeWidth],
])('on A4 paper, %d columns fit', async (columns, width) => {
  await open(columns);
  await page.emulateMedia({ media: 'print' });
  await page.setViewportSize({ width, height: 700 });
  expect(await measureOverflow()).toBe(0);
  const table = await boxOf(page.locator(lines));
  expect(table.width).toBeLessThanOrEqual(width);
  const pdf = await page.pdf({ preferCSSPageSize: true });
  // In points.
  expect(/\/MediaBox \[0 0 (\d+)/.exec(pdf.toString('latin1'))?.[1]).toBe(
    width === portraitWidth ? '594' : '841',
  );
});

test('a page prints black on white, also from a dark screen', async () => {
  await open();
  const colours = `(({ color, backgroundColor }) => color + ' on ' + backgroundColor)(getComputedStyle(document.body))`;
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await page.evaluate(colours)).toBe('rgb(230, 237, 243) on rgb(16, 20, 26)');
  await page.emulateMedia({ colorScheme: 'dark', media: 'print' });
  expect(await page.evaluate(colours)).toBe('rgb(0, 0, 0) on rgb(255, 255, 255)');
});

test('the policy blocks everything that a text could smuggle in', async () => {
  await open();
  await page.evaluate(
    `document.body.insertAdjacentHTML('beforeend', '<p style="color:red" id="smuggled">x</p>')`,
  );
  expect(await page.evaluate(`getComputedStyle(document.getElementById('smuggled')).color`)).toBe(
    'rgb(27, 31, 36)',
  );
  expect(violations.splice(0)).toEqual([expect.stringContaining('Content Security Policy')]);
});

describe("a run's report in a browser", () => {
  beforeEach(async () => {
    const pieces = formatRunReport(aReportedRun(), 'html', { at: new Date('2026-11-04T00:00:00Z') });
    await workspace.write('bill.html', (await concatenate(pieces)).toString());
    await page.goto(address());
  });

  test('deliveries, sends and costs are drawn', async () => {
    const titles = await page.locator('figcaption').allTextContents();
    expect(titles).toEqual([
      'From contacts to deliveries',
      'Recipients by minute (Pacific/Auckland)',
      'Price by SubAccount, NZD',
      'Price by ChargeCode, NZD',
    ]);
    for (const drawing of await boxesOf(page.locator('svg'))) expect(drawing.height).toBeGreaterThan(15);
    const funnel = page.getByRole('img', { name: 'Delivered 1,000,000 (80.0 %)' });
    expect(await funnel.count()).toBe(1);
  });

  test.each([
    ['screen', 1280],
    ['screen', 360],
    ['print', portraitWidth],
  ] as const)('every table stays within its frame, on a %s of %d pixels', async (media, width) => {
    await page.emulateMedia({ media });
    await page.setViewportSize({ width, height: 900 });
    expect(await measureOverflow()).toBe(0);
    const frames = await boxesOf(page.locator('section.lines'));
    expect(frames).toHaveLength(16);
    for (const frame of frames) expect(frame.x + frame.width).toBeLessThanOrEqual(width);
    if (media === 'screen') return;
    for (const table of await boxesOf(page.locator(lines))) expect(table.width).toBeLessThanOrEqual(width);
  });

  test('hostile texts are shown as text', async () => {
    expect(await page.locator('script, img, b').count()).toBe(0);
    expect(await page.locator('td').allTextContents()).toContain(hostileNames[0]);
  });
});
