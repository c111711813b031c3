import type { Campaign } from '../../campaign/campaign.ts';
import { sentVariants } from '../../campaign/variants.ts';
import type { Problem } from '../../domain/problems.ts';
import { countSmsParts } from './sms-parts.ts';

/** What is valid in variants and probably a mistake. Sentences without a full stop. */
export function variantWarnings(campaign: Campaign): Problem[] {
  return [...controlWarnings(campaign), ...costWarnings(campaign)];
}

function controlWarnings({ value, locate }: Campaign): Problem[] {
  const index = (value.variants ?? []).findIndex(({ send }) => send === 'nothing');
  if (index < 0) return [];
  const { dispatch, contacts } = value;
  const why = [
    ...(dispatch.priority === 'urgent' ? ['"dispatch.priority" is urgent'] : []),
    ...(contacts.minRecipients > 0 ? ['"contacts.minRecipients" asks for a number'] : []),
  ];
  if (why.length === 0) return [];
  const what = `The control group gets nothing, and ${why.join(' and ')}, as in a campaign that must reach all`;
  return [{ where: locate(['variants', index, 'send']), what }];
}

/** The parts of the texts as they stand, with their placeholders; a plan counts those of each recipient. */
function costWarnings(campaign: Campaign): Problem[] {
  const { budget, channel } = campaign.value;
  const sent = sentVariants(campaign);
  if (budget === undefined || channel !== 'sms' || sent.length < 2) return [];
  const parts = sent.map(({ campaign: { value } }) => {
    const { Message: text }: Readonly<Record<string, unknown>> = value.message;
    return typeof text === 'string' ? countSmsParts(text) : 0;
  });
  if (new Set(parts).size === 1) return [];
  const names = sent.map(
    ({ number = 1 }, index) => `"${campaign.value.variants?.[number - 1]?.name}" ${parts[index]}`,
  );
  const what = `The variants share one budget and have different numbers of SMS parts: ${names.join(', ')}`;
  return [{ where: campaign.locate(['variants']), what }];
}
