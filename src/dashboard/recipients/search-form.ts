import { type Html, html } from '../../report/html/html.ts';
import { textField } from '../parts/form-fields.ts';

export type Search = { readonly text: string; readonly country: string | undefined };

/** @param problem with what was searched for */
export function searchForm({ text, country }: Search, problem?: string): Html {
  const isFaulty = problem !== undefined;
  return html`<search><form method="get" action="/recipients" class="filter">
<div class="field wide"><label for="q">Phone number, e-mail address, MessageID or job number</label>
${isFaulty && html`<span class="error" id="q-error" role="alert">${problem}</span>`}
<input id="q" name="q" type="search" required maxlength="320" value="${text}" autocomplete="off" spellcheck="false" autocapitalize="off" dir="auto"${isFaulty && html` aria-invalid="true" aria-describedby="q-error"`}></div>
${countryField(country)}
<p class="field"><button class="main">Search</button></p>
</form></search>`;
}

/** Two letters, such as NZ. */
export function countryField(country: string | undefined): Html {
  return textField({
    name: 'country',
    label: 'Country, such as AU',
    value: country,
    hint: 'For numbers without +',
    attributes: html`maxlength="2" pattern="[A-Za-z]{2}" size="4" autocomplete="off"`,
  });
}
