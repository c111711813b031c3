import { type Html, html } from '../../report/html/html.ts';

type Field = {
  readonly name: string;
  /** Its name, where the page has no other element of this id. */
  readonly id?: string;
  readonly label: string;
};

type DescribedField = Field & {
  readonly hint?: string;
  readonly problem?: string | undefined;
};

/** A field with its hint and with what is wrong with it. @param control gets the attributes that point to both */
function describedField(
  { name, id = name, label, hint, problem }: DescribedField,
  control: (attributes: Html) => Html,
): Html {
  const described = [hint && `${id}-hint`, problem && `${id}-error`].filter(Boolean).join(' ');
  const attributes = html`id="${id}" name="${name}"${described && html` aria-describedby="${described}"`}${problem && html` aria-invalid="true"`}`;
  return html`<div class="field">
<label for="${id}">${label}</label>
${hint && html`<span class="hint" id="${id}-hint">${hint}</span>`}
${problem && html`<span class="error" id="${id}-error">${problem}</span>`}
${control(attributes)}
</div>`;
}

type TextField = DescribedField & {
  readonly value: string | undefined;
  readonly attributes?: Html;
};

export function textField({ value, attributes: more, ...field }: TextField): Html {
  return describedField(
    field,
    (attributes) => html`<input ${attributes} value="${value}"${more && html` ${more}`}>`,
  );
}

type LinesField = DescribedField & { readonly values: readonly string[] };

export function linesField({ values, ...field }: LinesField): Html {
  const lines = values.map(
    (value) => html`${value}
`,
  );
  return describedField(field, (attributes) => html`<textarea ${attributes} rows="3">${lines}</textarea>`);
}

type ChoiceField = DescribedField & {
  readonly values: readonly string[];
  /** What the person reads; the value itself by default. */
  readonly wordsOf?: (value: string) => string;
  readonly chosen: string | undefined;
  /** Words for no value; undefined: one must be chosen. */
  readonly none?: string | undefined;
  /** Whether the browser refuses to send no value. */
  readonly required?: boolean;
};

export function choiceField({ values, wordsOf, chosen, none, required, ...field }: ChoiceField): Html {
  const options = values.map(
    (value) =>
      html`<option value="${value}"${value === chosen && html` selected`}>${wordsOf?.(value) ?? value}</option>`,
  );
  const empty = none !== undefined && html`<option value="">${none}</option>`;
  return describedField(
    field,
    (attributes) => html`<select ${attributes}${required && html` required`}>${empty}${options}</select>`,
  );
}

/** The zone in which a period begins and ends. */
export function zoneField(value: string, problem?: string): Html {
  return textField({
    name: 'timeZone',
    label: 'Time zone',
    value,
    hint: 'such as Pacific/Auckland',
    problem,
  });
}

/** Hidden fields with what an address asks already, without those that the form asks itself. */
export function keptFields(address: string, asked: readonly string[]): readonly Html[] {
  const kept = [...new URLSearchParams(address.replace(/^[^?]*/, ''))];
  return kept
    .filter(([name]) => !asked.includes(name))
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);
}
