import { readableAccents } from '../../core/colour.ts'
import { plainLines } from '../../core/markdown/markdown.ts'
import { piecesOf, withoutIsolates } from '../../language/isolate.ts'
import type { Look, NotificationContent, Tone } from '../content/content.ts'

/**
 * The content of an email. Texts are plain except `html`. The owner's texts within our sentences can be marked
 * (`isolate`).
 */
export interface MailContent
  extends Pick<
    NotificationContent,
    'headline' | 'tone' | 'facts' | 'html' | 'messageTag' | 'titleTag' | 'namesTag' | 'action' | 'reason'
  > {
  /** What the email is about, shown in small above the headline. */
  readonly about: string
  /** The language (BCP 47) and direction; English by default. */
  readonly language?: { readonly tag: string; readonly dir: 'ltr' | 'rtl' }
  /** Defaults to our own look. */
  readonly look?: Look
  /** Further links for the reader. */
  readonly links: readonly { readonly label: string; readonly url: string }[]
}

/** Renders an email as plain text. */
export function textOf({ headline, facts, html, action, reason, links }: MailContent): string {
  return [
    withoutIsolates(headline),
    facts.map(([name, value]) => `${withoutIsolates(name)}: ${withoutIsolates(value)}`).join('\n'),
    plainLines(html),
    `${action.label}: ${action.url}`,
    ['-- ', withoutIsolates(reason), ...links.map(({ label, url }) => `${label}: ${url}`)].join('\n'),
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** The colors of our own emails. */
const ownLook: Look = { accentColor: '#0d6656', logoUrl: null }

/**
 * Renders an email as HTML with tables and inline styles, which mail programs support. Those that support media queries
 * respect a preference for dark mode. Nothing is fetched except the owner's logo, whose URL is the same for all
 * readers.
 */
export function htmlOf({
  about,
  look = ownLook,
  headline,
  tone,
  facts,
  html,
  messageTag,
  titleTag,
  namesTag,
  action,
  reason,
  links,
  language = { tag: 'en', dir: 'ltr' },
}: MailContent): string {
  const accents = readableAccents(look.accentColor)
  const rows = facts.map(
    ([name, value]) =>
      `<tr><td class="muted" style="padding:2px 0;padding-inline-end:16px;color:${light.muted};vertical-align:top">${sentenceHtml(name, namesTag)}</td><td style="padding:2px 0">${valueHtml(value, namesTag)}</td></tr>`,
  )
  const others = links.map(
    ({ label, url }) =>
      `<a class="muted" href="${escapeHtml(url)}" style="color:${light.muted}">${escapeHtml(label)}</a>`,
  )
  const logo =
    look.logoUrl === null
      ? ''
      : `<img src="${escapeHtml(look.logoUrl)}" alt="" height="32" style="height:32px;width:auto;max-width:160px;vertical-align:middle;margin-inline-end:10px">`
  return `<!DOCTYPE html>
<html lang="${language.tag}" dir="${language.dir}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><meta name="supported-color-schemes" content="light dark"><title>${escapeHtml(withoutIsolates(headline))}</title>
<style>${styleOf(tone, accents)}</style></head>
<body class="body" style="margin:0;padding:24px 12px;background:${light.paper};color:${light.ink};font:16px/1.5 Inter,system-ui,-apple-system,'Segoe UI',sans-serif">
<table class="card" role="presentation" width="100%" cellspacing="0" cellpadding="0" style="max-width:600px;margin:0 auto;background:${light.card};border-top:4px solid ${look.accentColor}">
<tr><td style="padding:24px">
<p class="muted" style="margin:0 0 20px;color:${light.muted};font-size:14px;font-weight:600">${logo}${sentenceHtml(about, namesTag)}</p>
<h1 class="tone" style="margin:0 0 16px;padding-inline-start:12px;border-inline-start:4px solid ${tones[tone].light};font-size:22px;line-height:1.3">${sentenceHtml(headline, titleTag)}</h1>
${rows.length === 0 ? '' : `<table role="presentation" cellspacing="0" cellpadding="0" style="margin:0 0 16px;font-size:15px">${rows.join('')}</table>`}
${html === '' ? '' : `<div class="message"${langOf(messageTag)} dir="auto" style="margin:0 0 16px">${html}</div>`}
<p style="margin:24px 0 0"><a class="action" href="${escapeHtml(action.url)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:${accents.light};color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(action.label)}</a></p>
</td></tr>
<tr><td class="muted line" style="padding:16px 24px;border-top:1px solid ${light.line};color:${light.muted};font-size:13px">${sentenceHtml(reason, namesTag)}${others.length === 0 ? '' : `<br>\n${others.join(' · ')}`}</td></tr>
</table>
</body>
</html>
`
}

/** Renders the value of a fact; a URL becomes a link. */
function valueHtml(value: string, tag: string | undefined): string {
  if (!/^https?:\/\/\S+$/.test(value)) return sentenceHtml(value, tag)
  return `<a href="${escapeHtml(value)}" style="color:inherit;overflow-wrap:anywhere">${escapeHtml(value)}</a>`
}

/**
 * Renders a sentence of ours. The owner's texts in it get their own direction, and their own language if it is not that
 * of the email.
 */
function sentenceHtml(sentence: string, tag: string | undefined): string {
  return piecesOf(sentence)
    .map(({ text, isOwners }) => (isOwners ? `<bdi${langOf(tag)}>${escapeHtml(text)}</bdi>` : escapeHtml(text)))
    .join('')
}

const langOf = (tag: string | undefined) => (tag === undefined ? '' : ` lang="${tag}"`)

const light = { paper: '#f2f3f0', card: '#ffffff', ink: '#1a1f22', muted: '#586069', line: '#dcdfdc' } as const
const dark = { paper: '#14181a', card: '#1d2326', ink: '#e7eaeb', muted: '#9da7ad', line: '#2d3539' } as const

/** Returns the styles that cannot be inline. The owner's text must not widen the email. */
function styleOf(tone: Tone, accents: { readonly light: string; readonly dark: string }): string {
  return `:root{color-scheme:light dark}
.message{overflow-wrap:anywhere}
.message pre{white-space:pre-wrap}
.message a{color:${accents.light}}
@media (prefers-color-scheme:dark){
.body{background:${dark.paper}!important;color:${dark.ink}!important}
.card{background:${dark.card}!important}
.muted{color:${dark.muted}!important}
.line{border-color:${dark.line}!important}
.tone{border-color:${tones[tone].dark}!important}
.message a{color:${accents.dark}!important}
.action{background:${accents.dark}!important;color:${dark.paper}!important}
}`
}

/** Distinguishable colors with enough contrast to the card. */
const tones = {
  good: { light: '#0b6e5a', dark: '#7fd3a0' },
  planned: { light: '#1f5a94', dark: '#8fc1f5' },
  minor: { light: '#8a5a00', dark: '#eac26d' },
  major: { light: '#b3261e', dark: '#ff9b90' },
  neutral: { light: '#586069', dark: '#9da7ad' },
} as const satisfies Record<Tone, { readonly light: string; readonly dark: string }>

/** Escapes text for HTML elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
