import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Result } from 'axe-core';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Of axe, those that depend on the colours of a page. */
const rulesOfColour = ['color-contrast', 'link-in-text-block'];

/**
 * Each rule of WCAG 2.2 AA that the page breaks, with where. Also good practices, such as landmarks. axe's own package
 * for Playwright loads axe for each question again, and lists what passes; that takes three times as long.
 */
export async function findProblems(page: Page, rules?: readonly string[]): Promise<readonly string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe);
  // No script runs in the frame of an e-mail, so it cannot be asked.
  const where = JSON.stringify({ exclude: ['iframe[sandbox]'] });
  const how = JSON.stringify({ resultTypes: ['violations'], ...(rules && { runOnly: rules }) });
  const violations = await page.evaluate<Result[]>(`axe.run(${where}, ${how}).then((it) => it.violations)`);
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html).join(', ')})`,
  );
}

/** The page breaks no rule, in light and in dark colours, and is not wider than its window. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const [colorScheme, rules] of [['light'], ['dark', rulesOfColour]] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await findProblems(page, rules), `${page.url()}, ${colorScheme}`).toEqual([]);
  }
  const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(wider), page.url()).toBeLessThanOrEqual(0);
}
