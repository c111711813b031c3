import { InputError } from '../../domain/problems.ts';
import type { Settings } from '../../engine/settings.ts';
import { findOwnAccounts, listSuppressionsOfAddress } from '../../engine/suppressions/own-suppressions.ts';
import { type Html, html } from '../../report/html/html.ts';
import { problemText } from '../base/problems.ts';
import type { View } from '../base/view.ts';
import { suppressionsPart } from '../suppressions/suppressions-part.ts';

/** Whether an address is suppressed, or why that is not known. */
export async function suppressedPart(view: View, settings: Settings, address: string): Promise<Html> {
  try {
    const own = await findOwnAccounts(settings, view.session.accounts);
    const found = await listSuppressionsOfAddress(view.context, address, own);
    return suppressionsPart({ address, found, own }, view);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return html`<p class="banner" role="alert">It is not known whether <bdi>${address}</bdi> is suppressed. ${problemText(error)}</p>`;
  }
}
