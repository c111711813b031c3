import type { FastifyRequest } from 'fastify';
import { timeZone } from '../../platform/scalars.ts';
import { html } from '../../report/html/html.ts';
import { textField } from '../parts/form-fields.ts';
import { ownPath } from '../paths.ts';
import { requireForm } from './actions.ts';
import { csrfField } from './layout.ts';
import { sendPage } from './pages.ts';
import { problemList } from './problems.ts';
import type { Tools } from './tools.ts';
import type { View, ZoneOfView } from './view.ts';

/** What the person chose: a zone, or UTC until they go back. */
const chosenCookie = 'volley_zone';
/** The zone to go back to from UTC. The script of a page sets it to that of the browser, if no page has set it. */
const ownCookie = 'volley_own_zone';
const year = 31_536_000;

/** The zone of the page: the one that the person chose, or that of their browser, or that of this machine. */
export function zonesOf({ cookies }: Pick<FastifyRequest, 'cookies'>): ZoneOfView {
  const [chosen, own] = [chosenCookie, ownCookie].map((name) => timeZone.safeParse(cookies[name]).data);
  const ownZone = own ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { zone: chosen ?? ownZone, ownZone, isZoneKnown: own !== undefined };
}

export function addZonePage({ addPage, addPost }: Tools): void {
  const where = { path: '/zone', scope: 'read' } as const;
  addPage(where, async (view, { query }) => zonePage(view, ownPath(query['to']), view.zone));
  addPost(where, async (view, _asked, reply) => {
    const { zone = '', to } = requireForm(reply.request, view);
    const chosen = timeZone.safeParse(zone.trim());
    if (!chosen.success) {
      const problem = 'There is no such time zone. Write one such as Australia/Sydney, or UTC.';
      return sendPage(reply, view, 422, zonePage(view, ownPath(to), zone, problem));
    }
    const kept = { path: '/', sameSite: 'strict', maxAge: year } as const;
    reply.setCookie(chosenCookie, chosen.data, { ...kept, httpOnly: true });
    if (chosen.data !== 'UTC') reply.setCookie(ownCookie, chosen.data, kept);
    return reply.redirect(ownPath(to), 303);
  });
}

function zonePage(view: View, to: string, zone: string, problem?: string) {
  const zones = ['UTC', ...Intl.supportedValuesOf('timeZone')];
  return {
    title: 'Time zone',
    body: html`${problem !== undefined && problemList('The time zone was not changed', [problem])}
<form method="post" action="/zone">
${csrfField(view)}<input type="hidden" name="to" value="${to}">
${textField({
  name: 'zone',
  label: 'Show times in',
  value: zone,
  hint: 'A time zone such as Australia/Sydney, or UTC. It changes this browser only.',
  attributes: html`list="zones" required autocomplete="off" spellcheck="false"${problem !== undefined && html` aria-invalid="true"`}`,
})}
<datalist id="zones">${zones.map((name) => html`<option value="${name}">`)}</datalist>
<p class="buttons"><button>Show times in this zone</button> <a href="${to}">Go back</a></p>
</form>`,
  };
}
