import { describe, expect, test } from 'vitest'
import { renderMarkdown } from '../../../src/core/markdown/markdown.ts'
import { languages } from '../../../src/language/catalogue.ts'
import type { SendTools } from '../../../src/notification/channel/channel.ts'
import { channels } from '../../../src/notification/channels.ts'
import type { NotificationContent } from '../../../src/notification/content/content.ts'
import { noon } from '../../support/context.ts'
import { contentOf, incident, messageTo } from './messages.ts'

/** The addresses of chats, and where their messages have the owner's text. */
const chats = {
  SLACK: 'https://hooks.slack.com/services/T0/B0/secret',
  DISCORD: 'https://discord.com/api/webhooks/1/secret',
  TEAMS: 'https://prod-1.westeurope.logic.azure.com/workflows/1?sig=secret',
  TELEGRAM: `123456:${'A'.repeat(35)}/-1001`,
} as const
type Chat = keyof typeof chats
const names = Object.keys(chats) as Chat[]

/** Sends a content, and returns the body that a chat gets. */
async function bodyFor(chat: Chat, content: NotificationContent) {
  const sent: string[] = []
  const outbound: SendTools['outbound'] = {
    request({ body }) {
      sent.push(String(body))
      throw new Error('Nothing is sent.')
    },
  }
  const message = messageTo(chats[chat], { content })
  await expect(channels[chat].send(message, { outbound, mailer: null, now: () => noon })).rejects.toThrow('Nothing')
  return sent[0] ?? ''
}

interface Field {
  readonly name: string
  readonly value: string
}

/** The parts of a body that a test reads. Each chat has some of them. */
interface Sent {
  readonly text: string
  readonly attachments: readonly {
    readonly blocks: readonly { readonly text?: { readonly text: string }; readonly elements: { text: string }[] }[]
    readonly content: {
      readonly body: readonly { readonly text?: string; readonly facts?: readonly { title: string; value: string }[] }[]
    }
  }[]
  readonly embeds: readonly {
    readonly title: string
    readonly description: string
    readonly fields: readonly Field[]
  }[]
}

/** Returns the texts in a body, and the one with the message of the owner. */
function partsOf(chat: Chat, sent: string): { readonly texts: readonly string[]; readonly message: string } {
  const { text, attachments, embeds }: Sent = JSON.parse(sent)
  if (chat === 'SLACK') {
    const texts = (attachments[0]?.blocks ?? []).map((block) => block.text?.text ?? block.elements[0]?.text ?? '')
    return { texts: [text, ...texts], message: texts[0] ?? '' }
  }
  if (chat === 'DISCORD') {
    const { title = '', description = '', fields = [] } = embeds[0] ?? {}
    return { texts: [title, description, ...fields.flatMap(({ name, value }) => [name, value])], message: description }
  }
  if (chat === 'TEAMS') {
    const body = attachments[0]?.content.body ?? []
    const facts = body.flatMap((part) => part.facts ?? []).flatMap(({ title, value }) => [title, value])
    const texts = body.flatMap((part) => part.text ?? [])
    return { texts: [...texts, ...facts], message: (texts.length > 3 ? texts[2] : '') ?? '' }
  }
  return { texts: [text], message: text }
}

/** An update without facts, so that only its text differs. */
const written = (markdown: string): NotificationContent => ({
  ...contentOf({ ...incident, title: 'T', services: [] }),
  facts: [],
  headline: 'H',
  html: renderMarkdown(markdown),
})
const url = 'https://allclear.example/status/acme/incidents/inc_0123456789abcdefghijklmn'

/** Returns a message without what surrounds its text in each chat. */
function textIn(chat: Chat, message: string): string {
  const around = {
    SLACK: ['*H*\n', `\n<${url}|View the incident>`],
    DISCORD: ['', `\n\n[View the incident](${url})`],
    TEAMS: ['', ''],
    TELEGRAM: ['Acme &#60;&#38;&#62; Co status\n<b>H</b>\n\n', `\n\n<a href="${url}">View the incident</a>`],
  } as const
  const [before, after] = around[chat]
  expect(message.startsWith(before)).toBe(true)
  const end = after === '' ? message.length : message.indexOf(after)
  expect(end).toBeGreaterThanOrEqual(0)
  return message.slice(before.length, end)
}

/** Texts as their owner writes them, and as each chat gets them. */
const table: readonly (readonly [string, string, Readonly<Record<Chat, string>>])[] = [
  [
    'paragraphs',
    'One.\n\nTwo,\nbroken.',
    {
      SLACK: 'One.\n\nTwo,\nbroken.',
      DISCORD: 'One.\n\nTwo,\nbroken.',
      TEAMS: 'One.\n\nTwo,\n\nbroken.',
      TELEGRAM: 'One.\n\nTwo,\nbroken.',
    },
  ],
  [
    'a list in a list',
    'Affected:\n\n- API\n- Mail\n  1. inbound\n  2. outbound\n- Blog\n\nAfter.',
    {
      SLACK: 'Affected:\n\n• API\n• Mail\n  1. inbound\n  2. outbound\n• Blog\n\nAfter.',
      DISCORD: 'Affected:\n\n- API\n- Mail\n  1. inbound\n  2. outbound\n- Blog\n\nAfter.',
      TEAMS: 'Affected:\n\n- API\n- Mail\n  1. inbound\n  2. outbound\n- Blog\n\nAfter.',
      TELEGRAM: 'Affected:\n\n• API\n• Mail\n  1. inbound\n  2. outbound\n• Blog\n\nAfter.',
    },
  ],
  [
    'links',
    'See [the *plan*](https://a.example/x_(1)?a=1&b=2) or https://b.example/_y.',
    {
      SLACK: 'See <https://a.example/x_(1)?a=1&amp;b=2|the plan> or <https://b.example/_y>.',
      DISCORD: 'See [the plan](https://a.example/x_%281%29?a=1&b=2) or https://b.example/_y.',
      TEAMS: 'See [the plan](https://a.example/x_%281%29?a=1&b=2) or [https://b.example/\\_y](https://b.example/_y).',
      TELEGRAM:
        'See <a href="https://a.example/x_(1)?a=1&#38;b=2">the plan</a> or <a href="https://b.example/_y">https://b.example/_y</a>.',
    },
  ],
  [
    'emphasis and code in a line',
    'It is **very** *slow*: `a * b` fails.',
    {
      SLACK: 'It is very slow: a * b fails.',
      DISCORD: 'It is very slow: a \\* b fails.',
      TEAMS: 'It is very slow: a \\* b fails.',
      TELEGRAM: 'It is very slow: a * b fails.',
    },
  ],
  [
    'a block of code',
    'Run:\n\n```\nping <host>\n  -c 1 `x`\n```',
    {
      SLACK: 'Run:\n\n```\nping &lt;host&gt;\n  -c 1 ˋxˋ\n```',
      DISCORD: 'Run:\n\n```\nping <host>\n  -c 1 ˋxˋ\n```',
      TEAMS: 'Run:\n\nping \\<host\\>\n\n  \\-c 1 \\`x\\`',
      TELEGRAM: 'Run:\n\n<pre>ping &#60;host&#62;\n  -c 1 `x`</pre>',
    },
  ],
  [
    'a quote, a heading and a rule',
    '# Plan\n\n> We are\n> sorry.\n\n---',
    {
      SLACK: 'Plan\n\n> We are\n> sorry.\n\n* * *',
      DISCORD: 'Plan\n\n> We are\n> sorry.\n\n\\* \\* \\*',
      TEAMS: 'Plan\n\n\\> We are\n\n\\> sorry.\n\n\\* \\* \\*',
      TELEGRAM: 'Plan\n\n&#62; We are\n&#62; sorry.\n\n* * *',
    },
  ],
  [
    'a table, which we do not render',
    '| a | b |\n|---|---|\n| 1 | 2 |',
    {
      SLACK: '| a | b |\n|---|---|\n| 1 | 2 |',
      DISCORD: '| a | b |\n|---|---|\n| 1 | 2 |',
      TEAMS: '| a | b |\n\n|---|---|\n\n| 1 | 2 |',
      TELEGRAM: '| a | b |\n|---|---|\n| 1 | 2 |',
    },
  ],
  [
    'entities and tags',
    '&amp;lt; AT&T <b>x</b> "q" &copy;',
    {
      SLACK: '&amp;lt; AT&amp;T &lt;b&gt;x&lt;/b&gt; "q" ©',
      DISCORD: '&lt; AT&T <b>x</b> "q" ©',
      TEAMS: '&lt; AT&T \\<b\\>x\\</b\\> "q" ©',
      TELEGRAM: '&#38;lt; AT&#38;T &#60;b&#62;x&#60;/b&#62; &#34;q&#34; ©',
    },
  ],
  [
    'marks of the chats',
    'a \\*b\\* \\_c\\_ ~d~ ||e|| \\[f\\](g) <!channel> <@1> <@&2> <#3> @everyone @here <t:1:R> <:x:1>',
    {
      SLACK:
        'a ∗b* ˍc_ ∼d~ ||e|| [f](g) &lt;!channel&gt; &lt;@1&gt; &lt;@&amp;2&gt; &lt;#3&gt; @everyone @here &lt;t:1:R&gt; &lt;:x:1&gt;',
      DISCORD:
        'a \\*b\\* \\_c\\_ \\~d\\~ \\||e\\|| \\[f\\](g) <!channel> \\<@1> \\<@&2> \\<#3> @\u200beveryone @\u200bhere \\<t:1:R> \\<:x:1>',
      TEAMS:
        'a \\*b\\* \\_c\\_ ~d~ ||e|| \\[f\\](g) \\<!channel\\> \\<@1\\> \\<@&2\\> \\<\\#3\\> @everyone @here \\<t:1:R\\> \\<:x:1\\>',
      TELEGRAM:
        'a *b* _c_ ~d~ ||e|| [f](g) &#60;!channel&#62; &#60;@1&#62; &#60;@&#38;2&#62; &#60;#3&#62; @everyone @here &#60;t:1:R&#62; &#60;:x:1&#62;',
    },
  ],
  [
    'lines that begin like lists, quotes and headings',
    '\\# one\n\\- two\n\\> three\n1\\. four',
    {
      SLACK: '# one\n- two\n\u200b&gt; three\n1. four',
      DISCORD: '\\# one\n\\- two\n\\> three\n1\\. four',
      TEAMS: '\\# one\n\n\\- two\n\n\\> three\n\n1\\. four',
      TELEGRAM: '# one\n- two\n&#62; three\n1. four',
    },
  ],
  [
    'text in two directions',
    '\u202eabc **d**',
    {
      SLACK: '\u202eabc \u202cd',
      DISCORD: '\u202eabc \u202cd',
      TEAMS: '\u202eabc \u202cd',
      TELEGRAM: '\u202eabc \u202cd',
    },
  ],
]

/** Updates of about 10,000 characters, rendered once. */
const long = Object.fromEntries(
  Object.entries({
    words: 'We still investigate & <repair> *it* with_all of our team. '.repeat(170),
    entities: '&<>"'.repeat(2500),
    emoji: '👩‍👩‍👧‍👦'.repeat(900),
    'one word': 'x'.repeat(10_000),
    list: '- [item](https://a.example/?a=1&b=2) & more\n'.repeat(300),
    'deep list': Array.from({ length: 40 }, (_, depth) => `${'  '.repeat(depth)}- ${'level & on '.repeat(25)}`).join(
      '\n',
    ),
    code: `\`\`\`\n${'if (a < b && c > d) { `x` }\n'.repeat(350)}\`\`\``,
    quotes: `${'>'.repeat(200)} ${'a & b '.repeat(1500)}`,
  }).map(([name, markdown]) => [name, renderMarkdown(markdown)]),
)

describe.each(names)('%s', (chat) => {
  test.each(table)('writes %s', async (_, markdown, expected) => {
    const { message } = partsOf(chat, await bodyFor(chat, written(markdown)))
    expect(textIn(chat, message)).toBe(expected[chat])
  })

  test.each(Object.entries(long))('cuts 10,000 characters of %s within its limits', async (_, html) => {
    const sent = await bodyFor(chat, { ...contentOf(), html })
    expectWithinLimits(chat, sent)
    const { message } = partsOf(chat, sent)
    // The longest text that an update can have fits into a card of Teams, unless escapes double it.
    if (chat !== 'TEAMS') expect(message).toContain('…')
    expect(sent).toContain(url)
    expect(sent).toContain('https://allclear.example/subscriptions/token')
    expect(sent.isWellFormed() && !/\\ud[89a-f]/.test(sent)).toBe(true)
  })

  test.each(languages)('keeps link, settings and facts of a long text in %s', async (language) => {
    const content = contentOf(incident, language)
    const sent = await bodyFor(chat, { ...content, html: long['words'] ?? '' })
    expectWithinLimits(chat, sent)
    for (const kept of [content.action.label, content.action.url, content.words.mail.manage, 'Mail'])
      expect(sent).toContain(JSON.stringify(kept).slice(1, -1))
  })

  test('cuts a text that is longer than an update can be', async () => {
    const sent = await bodyFor(chat, { ...contentOf(), html: `<p>${'é &amp; <a href="y">x</a> '.repeat(5000)}</p>` })
    expectWithinLimits(chat, sent)
    expect(partsOf(chat, sent).texts.join('')).toMatch(/é & ?[^…]*…|é &(amp;|#38;)[^…]*…/)
    expect(sent).toContain(url)
  })

  test('takes facts of any number and length', async () => {
    const facts = Array.from({ length: 100 }, (_, index) => [`Name ${index} *`, `<&> ${'v_ '.repeat(500)}`] as const)
    const short = Array.from({ length: 50 }, (_, index) => [`Service ${index}`, '99.9 %'] as const)
    for (const given of [facts, short])
      expectWithinLimits(chat, await bodyFor(chat, { ...contentOf(), facts: given, html: long['words'] ?? '' }))
    expect(await bodyFor(chat, { ...contentOf(), facts: short })).toContain('Service 49')
  })

  test('escapes names in headline, facts and reason', async () => {
    const name = '<!channel> @everyone *b* [x](https://evil.example) <b>'
    const sent = await bodyFor(chat, { ...contentOf(), headline: name, facts: [[name, name]], reason: name })
    const { texts } = partsOf(chat, sent)
    for (const text of texts) {
      if (chat === 'SLACK') expect(text).not.toMatch(/<!|(?<!\*)\*b\*/)
      if (chat === 'DISCORD') expect(text).not.toMatch(/@everyone|(?<!\\)\*b|(?<!\\)\[x/)
      if (chat === 'TEAMS') expect(text).not.toMatch(/(?<!\\)(\*b|\[x|<b)/)
      if (chat === 'TELEGRAM') expect(text.replace(/<\/?(a|b|pre)\b[^>]*>/g, '')).not.toMatch(/[<>]/)
    }
  })
})

/** The limits that each platform documents, and what shows that an escape was cut. */
const limits: Readonly<Record<Chat, (texts: readonly string[], body: Sent) => void>> = {
  SLACK(texts, { attachments }) {
    expect(attachments[0]?.blocks.length).toBeLessThanOrEqual(50)
    for (const text of texts) {
      expect(text.length).toBeLessThanOrEqual(3000)
      expect(text).not.toMatch(/&(?!(amp|lt|gt);)/)
      expect((text.match(/```/g) ?? []).length % 2).toBe(0)
      expect(text.replace(/<[^<>]*>/g, '').replace(/^(> ?)+/gm, '')).not.toMatch(/[<>]/)
    }
  },
  DISCORD(texts, { embeds }) {
    const { title = '', description = '', fields = [] } = embeds[0] ?? {}
    expect([title.length <= 256, description.length <= 4096, fields.length <= 25]).toEqual([true, true, true])
    for (const { name, value } of fields) expect([name.length <= 256, value.length <= 1024]).toEqual([true, true])
    for (const text of texts) expect(text).not.toBe('')
    expect(texts.join('').length).toBeLessThanOrEqual(6000)
    expect((description.match(/```/g) ?? []).length % 2).toBe(0)
  },
  TEAMS(_, body) {
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThanOrEqual(28_000)
  },
  TELEGRAM([text = '']) {
    expect(text).not.toMatch(/&(?!#\d+;)/)
    const open = [...text.matchAll(/<(\/?)(a|b|pre)\b[^>]*>/g)].reduce((sum, [, end]) => sum + (end ? -1 : 1), 0)
    expect(open).toBe(0)
    const shown = text.replace(/<[^>]*>/g, '').replace(/&#\d+;/g, '&')
    expect(shown.length).toBeLessThanOrEqual(4096)
  },
}

const expectWithinLimits = (chat: Chat, sent: string) => limits[chat](partsOf(chat, sent).texts, JSON.parse(sent))
