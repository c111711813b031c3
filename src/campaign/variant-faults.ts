import { formatPercent } from '../domain/scalar-text.ts';
import type { Definition } from './definition.ts';
import { inParts } from './variants.ts';

type Fault = { readonly path: readonly (string | number)[]; readonly what: string };

/** What the schema cannot say of variants. */
export function variantFaults(definition: Pick<Definition, 'variants' | 'until' | 'message'>): Fault[] {
  const { variants, until } = definition;
  if (!variants)
    return until ? [{ path: ['until'], what: '"until": expected "variants", of which one can win.' }] : [];
  const sent = variants.filter(({ send }) => send === undefined);
  const faults = [...repeatedFaults(definition), ...shareFaults(definition)];
  if (sent.length < (until ? 2 : 1)) {
    const what = `"variants": expected ${until ? 'at least two that are sent, because of "until"' : 'one that is sent'}.`;
    faults.push({ path: ['variants'], what });
  }
  return faults;
}

function repeatedFaults({ variants = [], message }: Pick<Definition, 'variants' | 'message'>): Fault[] {
  const messages = variants.map((each) => JSON.stringify(sorted({ ...message, ...each.message })));
  return variants.flatMap(({ name, send }, index): Fault[] => {
    const at = (...keys: string[]) => ['variants', index, ...keys];
    const first = variants.findIndex((each) => each.name === name);
    if (first < index) return [{ path: at('name'), what: `"${name}" is the name of another variant too.` }];
    const same = variants.findIndex(
      (each, other) => each.send === send && (send === 'nothing' || messages[other] === messages[index]),
    );
    if (same === index) return [];
    const what =
      send === 'nothing'
        ? `"${name}": "${variants[same]?.name}" is the control group already.`
        : `"${name}" has the same message as "${variants[same]?.name}", so it changes nothing.`;
    return [{ path: at(send === 'nothing' ? 'send' : 'message'), what }];
  });
}

function sorted(message: object): [string, unknown][] {
  return Object.entries(message).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

function shareFaults({ variants = [], until }: Pick<Definition, 'variants' | 'until'>): Fault[] {
  const whole = inParts(1);
  const sum = variants.reduce((total, { share }) => total + inParts(share), 0);
  const empty = variants.flatMap(({ share, name }, index): Fault[] =>
    share > 0 ? [] : [{ path: ['variants', index, 'share'], what: `"${name}": expected a share above 0%.` }],
  );
  const found = `add up to ${formatPercent(sum / whole)}`;
  const what =
    until === undefined
      ? sum !== whole && `The shares of "variants" ${found}; expected 100%.`
      : sum >= whole &&
        `The shares of "variants" ${found}; with "until", expected less than 100%: the rest gets the winner.`;
  return what === false ? empty : [...empty, { path: ['variants'], what }];
}
