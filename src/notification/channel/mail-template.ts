import type { NotificationContent, Tone } from '../content.ts'

/** What a mail says. Texts are plain, but for `message`. */
export interface MailContent
  extends Pick<NotificationContent, 'headline' | 'tone' | 'facts' | 'message' | 'html' | 'action' | 'reason'> {
  /** What it belongs to, above the headline in small. */
  readonly about: string
  /** Where else its reader may want to go. */
  readonly links: readonly { readonly label: string; readonly url: string }[]
}

/** A mail as plain text. */
export function textOf({ headline, facts, message, action, reason, links }: MailContent): string {
  return [
    headline,
    facts.map(([name, value]) => `${name}: ${value}`).join('\n'),
    message,
    `${action.label}: ${action.url}`,
    ['-- ', reason, ...links.map(({ label, url }) => `${label}: ${url}`)].join('\n'),
  ]
    .filter(Boolean)
    .join('\n\n')
}

/** A mail as HTML: tables and inline styles, which is what mail readers know; nothing is fetched from anywhere. */
export function htmlOf({ about, headline, tone, facts, html, action, reason, links }: MailContent): string {
  const rows = facts.map(
    ([name, value]) =>
      `<tr><td style="padding:2px 16px 2px 0;color:#5b6166;vertical-align:top">${escapeHtml(name)}</td><td style="padding:2px 0">${escapeHtml(value)}</td></tr>`,
  )
  const others = links.map(
    ({ label, url }) => `<a href="${escapeHtml(url)}" style="color:#5b6166">${escapeHtml(label)}</a>`,
  )
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(headline)}</title></head>
<body style="margin:0;padding:24px 12px;background:#f4f4f1;color:#1b1f22;font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif">
<table role="presentation" width="100%" cellspacing="0" cellpadding="0" style="max-width:600px;margin:0 auto;background:#ffffff;border-top:4px solid ${colours[tone]}">
<tr><td style="padding:24px">
<p style="margin:0 0 8px;color:#5b6166;font-size:14px">${escapeHtml(about)}</p>
<h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">${escapeHtml(headline)}</h1>
${rows.length === 0 ? '' : `<table role="presentation" cellspacing="0" cellpadding="0" style="margin:0 0 16px;font-size:15px">${rows.join('')}</table>`}
${html === '' ? '' : `<div style="margin:0 0 16px">${html}</div>`}
<p style="margin:24px 0 0"><a href="${escapeHtml(action.url)}" style="display:inline-block;padding:10px 18px;border-radius:6px;background:#0b6e5a;color:#ffffff;text-decoration:none;font-weight:600">${escapeHtml(action.label)}</a></p>
</td></tr>
<tr><td style="padding:16px 24px;border-top:1px solid #e3e3de;color:#5b6166;font-size:13px">${escapeHtml(reason)}${others.length === 0 ? '' : `<br>\n${others.join(' · ')}`}</td></tr>
</table>
</body>
</html>
`
}

/** Distinguishable colours with enough contrast to white. */
const colours = {
  good: '#0b6e5a',
  planned: '#1f5a94',
  minor: '#8a5a00',
  major: '#b3261e',
  neutral: '#5b6166',
} as const satisfies Record<Tone, string>

/** Text as HTML shows it, in elements and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
