import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';

/** Each rule of WCAG 2.2 AA that the page breaks, with where. Also good practices, such as landmarks. */
export async function findProblems(page: Page): Promise<readonly string[]> {
  // No script runs in the frame of an e-mail, so it cannot be asked.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode().exclude('iframe[sandbox]').analyze();
  return violations.map(
    ({ id, help, nodes }) => `${id}: ${help} (${nodes.map(({ html }) => html).join(', ')})`,
  );
}
