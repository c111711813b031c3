import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

/** Of axe, those that depend on the colours of a page. */
const rulesOfColour = ['color-contrast', 'link-in-text-block'];

/** Each rule of WCAG 2.2 AA that the page breaks, with where. Also good practices, such as landmarks. */
export async function findProblems(page: Page, rules?: string[]): Promise<readonly string[]> {
  // No script runs in the frame of an e-mail, so it cannot be asked.
  const axe = new AxeBuilder({ page }).setLegacyMode().exclude('iframe[sandbox]');
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze();
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html).join(', ')})`,
  );
}

/** The page breaks no rule, in light and in dark colours, and is not wider than its window. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const [colorScheme, rules] of [['light'], ['dark', rulesOfColour]] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    expect(await findProblems(page, rules && [...rules]), `${page.url()}, ${colorScheme}`).toEqual([]);
  }
  const wider = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  expect(await page.evaluate(wider), page.url()).toBeLessThanOrEqual(0);
}
