/** What a page may load that shows messages: styles and inline images of e-mails are the campaign's own. */
export const previewPolicy = `style-src 'unsafe-inline'; img-src data:`;

/** The style of messages as `messagePart` writes them, in any page that has the colours of `createPageStyle`. */
export const messageStyle = `
:root { --bubble: #e9e9eb; --bubble-ink: #111418; --frame: #22272e; --mark: #ffd33d; --mark-ink: #1b1f24; --later: #1f5fbf; }
@media (prefers-color-scheme: dark) {
  :root { --bubble: #2f353d; --bubble-ink: #f0f3f6; --frame: #3d444d; --mark: #9e7c13; --mark-ink: #ffffff; --later: #79b0ff; }
}
.message { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem 2.5rem; align-items: start; }
.reader, .about { min-width: 0; }
.facts { margin: 0 0 1rem; }
.facts div { display: grid; grid-template-columns: minmax(7rem, 9rem) minmax(0, 1fr); gap: .75rem; padding: .3rem 0; border-bottom: 1px solid var(--line); }
.facts dt { color: var(--quiet); }
.facts dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.note { margin: .5rem 0; color: var(--quiet); }
.placeholders { overflow-x: auto; }
.placeholders td { max-width: 20rem; }
.placeholders td div { max-height: 12rem; overflow: auto; white-space: pre-wrap; }
.placeholders th[scope="row"] small { display: block; }
.code { display: inline-block; padding: 0 .25em; border-radius: .25em; background: var(--frame); color: #ffffff; font: .75em ui-monospace, Menlo, Consolas, monospace; unicode-bidi: isolate; direction: ltr; }
.later { color: var(--later); text-decoration: underline dotted; }
mark { background: var(--mark); color: var(--mark-ink); border-radius: .2em; box-shadow: 0 0 0 1px var(--mark); }
.phone { max-width: 22rem; margin: 0 auto 1.25rem; padding: .75rem; border-radius: 2.2rem; background: var(--frame); }
.phone .caller { padding: .6rem 1rem; border-radius: 1.6rem 1.6rem 0 0; background: var(--stripe); border-bottom: 1px solid var(--line); text-align: center; font-weight: 600; overflow-wrap: anywhere; }
.phone .screen { min-height: 20rem; max-height: 38rem; overflow: auto; padding: 1rem .8rem; border-radius: 0 0 1.6rem 1.6rem; background: var(--page); }
.bubble { width: fit-content; max-width: 92%; padding: .6rem .85rem; border-radius: 1.1rem 1.1rem 1.1rem .3rem; background: var(--bubble); color: var(--bubble-ink); font-size: 1.0625rem; line-height: 1.4; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.cut { display: inline-block; margin: 0 .15em; padding: 0 .3em; border-left: 2px dashed var(--later); color: var(--later); font-size: .7em; font-weight: 600; vertical-align: super; line-height: 1; unicode-bidi: isolate; user-select: none; }
.mail, .sheet { margin-bottom: 1.25rem; padding: 1rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--page); box-shadow: 0 1px 4px rgb(0 0 0 / .12); }
.mail .facts dt { font-size: .9em; }
.mail .facts div { grid-template-columns: 5.5rem minmax(0, 1fr); }
.mail iframe { display: block; width: 100%; height: 34rem; border: 1px solid var(--line); border-radius: .4rem; background: #ffffff; color-scheme: light; resize: vertical; overflow: auto; }
.mail summary { padding: .4rem 0; cursor: pointer; }
.plain { max-height: 38rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.mail .plain { padding: .75rem; border-radius: .4rem; background: var(--stripe); }
.files { display: flex; flex-wrap: wrap; gap: .4rem .75rem; align-items: baseline; margin-bottom: 1rem; }
.files span { color: var(--quiet); font-size: .9em; }
.files ul { display: flex; flex-wrap: wrap; gap: .4rem; margin: 0; padding: 0; list-style: none; min-width: 0; }
.files li { padding: .25rem .6rem; border: 1px solid var(--line); border-radius: .4rem; overflow-wrap: anywhere; min-width: 0; }
.sheet { max-width: 34rem; min-height: 24rem; margin-inline: auto; padding: 1.5rem; background: #ffffff; color: #1b1f24; border-radius: .15rem; font-family: "Courier New", Courier, monospace; }
.faxline { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin-bottom: 1.25rem; padding-bottom: .4rem; border-bottom: 1px solid #1b1f24; font-size: .8rem; overflow-wrap: anywhere; min-width: 0; }
.faxline span { min-width: 0; }
.sheet small { color: #57606a; }
.sheet .plain { max-height: none; }
.sheet .document { margin: 6rem 0 0; text-align: center; overflow-wrap: anywhere; }
.call { margin: 0 0 1.25rem; padding: 0; list-style: none; counter-reset: step; }
.call > li { position: relative; margin-left: 1rem; padding: 0 0 1.25rem 1.75rem; border-left: 2px solid var(--line); counter-increment: step; }
.call > li::before { content: counter(step); position: absolute; left: -.85rem; width: 1.6rem; height: 1.6rem; border-radius: 50%; background: var(--bar); color: var(--page); text-align: center; font-size: .85rem; line-height: 1.6rem; }
.call > li:last-child { border-color: transparent; }
.call h3 { font-size: 1rem; }
.call p { margin: .3rem 0; overflow-wrap: anywhere; }
blockquote { margin: .4rem 0 0; padding: .7rem 1rem; border-radius: .8rem; background: var(--bubble); color: var(--bubble-ink); max-height: 24rem; overflow: auto; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.number { border-bottom: 2px dotted currentColor; }
.keys { margin: .3rem 0; padding-left: 1.2rem; line-height: 2; }
kbd { padding: .1em .45em; border: 1px solid var(--quiet); border-radius: .3em; font: inherit; font-weight: 600; }
@media (min-width: 62rem) {
  .message { grid-template-columns: minmax(0, 1.1fr) minmax(0, 1fr); }
}
@media print {
  :root { --bubble: #f0f0f0; --bubble-ink: #000000; --frame: #666666; --mark: #dddddd; --mark-ink: #000000; --later: #000000; }
  .phone .screen, .plain, blockquote, .placeholders td div { max-height: none; overflow: visible; }
}
`;

export const previewStyle = `
body { max-width: 100rem; }
h2, h3 { margin: 0; line-height: 1.3; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; }
small { color: var(--quiet); font-weight: 400; font-size: .85em; }
a { color: var(--bar); }
.causes { margin: 1.25rem 0; padding: .6rem .9rem; border: 1px solid var(--line); border-radius: .5rem; background: var(--stripe); overflow-wrap: anywhere; }
.causes summary { cursor: pointer; font-weight: 600; }
.causes ul { margin: .5rem 0 0; padding-left: 1.2rem; }
.book { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem 2rem; margin-top: 1.5rem; }
nav ul { display: flex; gap: .5rem; margin: 0; padding: 0 0 .5rem; list-style: none; overflow-x: auto; }
nav a { display: block; padding: .35rem .7rem; border: 1px solid var(--line); border-radius: .5rem; color: inherit; text-decoration: none; white-space: nowrap; }
nav a small { display: block; max-width: 14rem; overflow: hidden; text-overflow: ellipsis; }
nav a:hover { border-color: var(--bar); }
.rows > article { display: none; }
.rows > article:target, .book:not(:has(:target)) .rows > article:first-child { display: block; }
@supports not selector(:has(a)) { .rows > article { display: block; margin-bottom: 3rem; } }
article { scroll-margin-top: 1rem; }
.head { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; justify-content: space-between; align-items: baseline; margin-bottom: 1rem; padding-bottom: .5rem; border-bottom: 1px solid var(--line); }
.steps { display: flex; gap: 1rem; white-space: nowrap; }
.steps span { color: var(--quiet); opacity: .6; }
@media (min-width: 62rem) {
  .book { grid-template-columns: 13rem minmax(0, 1fr); }
  nav { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto; }
  nav ul { flex-direction: column; padding: 0; }
}
@media print {
  nav, .steps { display: none; }
  .rows > article { display: block; break-inside: avoid-page; margin-bottom: 2rem; }
}
${messageStyle}`;
