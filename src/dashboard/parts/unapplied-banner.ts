import type { UnappliedReports } from '../../domain/delivery-reports.ts';
import { describeUnapplied } from '../../platform/unapplied-reports-text.ts';
import { type Html, html } from '../../report/html/html.ts';
import { formatLocal } from '../../report/time.ts';
import type { Viewer } from '../base/view.ts';
import { withCode } from './parts.ts';

/** On pages whose figures come from delivery reports. @param unapplied undefined until it is read */
export function unappliedBanner(unapplied: UnappliedReports | undefined, { zone }: Viewer): readonly Html[] {
  const words = unapplied ? describeUnapplied(unapplied, (time) => `${formatLocal(time, zone)} ${zone}`) : [];
  return words.map((what) => html`<p class="banner" role="alert">${withCode(what)}</p>`);
}
