import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  escapeMarkdown,
  escapeText,
  plainLines,
  plainText,
  renderMarkdown,
  textAsHtml,
} from '../../../src/core/markdown/markdown.ts'
import { nestingFaults } from '../../support/markup.ts'

/** Every tag that rendering can produce. */
const ownTags =
  /^<(\/?(p|h4|ul|ol( start="\d+")?|li|blockquote|pre|code( class="language-[^"<>]*")?|em|strong|br|hr|a( rel="noopener noreferrer nofollow ugc" href="[^"<>]*"( title="[^"<>]*")?)?)( \/)?)>$/

const tagsIn = (html: string) => html.match(/<[^>]*>/g) ?? []
const addressesIn = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, address]) => address ?? '')

describe('a message', () => {
  test('is rendered as Markdown', () => {
    expect(renderMarkdown('We are **looking** into `it`.\n\n- one\n- two')).toBe(
      '<p>We are <strong>looking</strong> into <code>it</code>.</p>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>',
    )
  })

  test('demotes headings below the page’s own', () => {
    expect(renderMarkdown('# One\n\nTwo\n---\n\n###### Six')).toBe('<h4>One</h4>\n<h4>Two</h4>\n<h4>Six</h4>')
  })

  test('marks links with rel', () => {
    const link = '<a rel="noopener noreferrer nofollow ugc" href='
    expect(renderMarkdown('[notice](https://a.example/b?c=d&e)')).toBe(
      `<p>${link}"https://a.example/b?c=d&amp;e">notice</a></p>`,
    )
    expect(renderMarkdown('See https://a.example/b.')).toBe(
      `<p>See ${link}"https://a.example/b">https://a.example/b</a>.</p>`,
    )
    expect(renderMarkdown('<mailto:ops@a.example>')).toContain(`${link}"mailto:ops@a.example">`)
  })

  test('turns images into links', () => {
    expect(renderMarkdown('![a cat](https://evil.example/cat.png)')).not.toContain('<img')
    expect(renderMarkdown('![a cat][c]\n\n[c]: https://evil.example/cat.png')).not.toContain('<img')
  })

  test.each([
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    '<svg/onload=alert(1)>',
    'a <b onclick="alert(1)">b</b> c',
    '<!-- --><iframe src=//evil.example>',
    '<style>*{display:none}</style>',
    '```"><script>alert(1)</script>\ncode\n```',
    '[a](https://a.example "\\"onmouseover=alert(1) x=\\"")',
    '[a](<https://a.example/"onmouseover=alert(1)>)',
    '<https://a.example/"onmouseover="alert(1)>',
    '[<img src=x onerror=alert(1)>](https://a.example)',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    '<h1>not ours</h1> <a href="">nor this</a> <a href=',
    '`<a href="">` and `<h1>`',
  ])('with hostile HTML is only text: %s', (message) => {
    const html = renderMarkdown(message)
    expect(tagsIn(html).filter((tag) => !ownTags.test(tag))).toEqual([])
    expect(nestingFaults(html)).toEqual([])
  })

  test.each([
    '[a](javascript:alert(1))',
    '[a](JaVaScRiPt:alert(1))',
    '[a](java&#115;cript:alert(1))',
    '[a](  javascript:alert(1))',
    '[a](\u0001javascript:alert(1))',
    '[a](vbscript:x)',
    '[a](data:text/html,<script>alert(1)</script>)',
    '[a](file:///etc/passwd)',
    '<javascript:alert(1)>',
    '[a][b]\n\n[b]: javascript:alert(1)',
  ])('contains no link that could do harm: %s', (message) => {
    const html = renderMarkdown(message)
    for (const address of addressesIn(html)) {
      expect(new URL(address, 'https://page.example/').protocol).toMatch(/^(https?|mailto):$/)
    }
    expect(html).not.toContain('href=""')
  })

  test('becomes well-formed HTML with allowed tags only, whatever the text', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<',
        '>',
        '"',
        "'",
        '&',
        '[',
        ']',
        '(',
        ')',
        '!',
        '`',
        '*',
        '_',
        '#',
        '\n',
        ' ',
        '<a href="',
        ':',
      ),
      fc.constantFrom('javascript:', 'https://a.b', '</a>', '<h1>', '- ', '> ', '1. ', 'www.', '&lt;'),
      fc.string({ unit: 'grapheme', maxLength: 5 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const html = renderMarkdown(pieces.join(''))
        expect(tagsIn(html).filter((tag) => !ownTags.test(tag))).toEqual([])
        expect(nestingFaults(html)).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  test('is shown as typed until it is rendered', () => {
    expect(textAsHtml('# Hi\n\n\n**We** look:\n- <b>\n')).toBe('<p># Hi</p>\n<p>**We** look:<br />\n- &lt;b&gt;</p>')
    expect(textAsHtml(' \n')).toBe('')
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('<', '>', '&', '"', '\n', 'a', '&lt;') }), (text) => {
        const html = textAsHtml(text)
        expect(tagsIn(html).filter((tag) => !ownTags.test(tag))).toEqual([])
        expect(plainText(html)).toBe(text.replace(/\s+/g, ' ').trim())
      }),
    )
  })

  test('converts to plain text', () => {
    expect(plainText(renderMarkdown('# Hi\n\nWe **are** at `a < b` & [there](https://a.example).'))).toBe(
      'Hi We are at a < b & there.',
    )
  })

  test('converts to plain text with its lines, lists, quotes and addresses', () => {
    const lines = (text: string) => plainLines(renderMarkdown(text))
    expect(
      lines('We **are** at `a < b`,\nsee [there](https://a.example/?b=1&c) or https://b.example, me@c.example.'),
    ).toBe('We are at a < b,\nsee there (https://a.example/?b=1&c) or https://b.example, me@c.example.')
    expect(lines('# Hi\n\n- one\n- two\n  1. a\n  2. b\n\nend')).toBe('Hi\n\n- one\n- two\n  1. a\n  2. b\n\nend')
    expect(lines('> one\n>\n> two\n\n```\na\n\n  b\n```\n\n***')).toBe('> one\n>\n> two\n\na\n\n  b\n\n* * *')
    expect(plainLines(textAsHtml('a *b*\nc\n\nd & e'))).toBe('a *b*\nc\n\nd & e')
    expect(plainLines('')).toBe('')
  })

  test('grows little as plain text, however deeply nested', () => {
    const html = '<blockquote><p>a</p>\n<ul><li>b'.repeat(2000)
    expect(plainLines(html).length).toBeLessThan(2 * html.length)
  })
})

test('escapeMarkdown shows a text literally, even if it contains Markdown', () => {
  const piece = fc.oneof(
    fc.constantFrom('<b>', '*', '_', 'a_b', '[a](javascript:1)', '`', 'https://evil.example/', 'www.evil.example', '#'),
    fc.constantFrom(
      '1. ',
      '&amp;',
      '&#42;',
      '\\',
      '~',
      'a@evil.example',
      '![',
      ']: ',
      '> ',
      '- ',
      '|',
      'ftp://x',
      '\n',
    ),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = `a${pieces.join('').replace(/[^\P{C}\n]/gu, '')}z`
      const shown = renderMarkdown(`**Web** is down: ${escapeMarkdown(text)}.`)
      expect(shown.replace(/\s+/g, ' ')).toBe(
        `<p><strong>Web</strong> is down: ${escapeText(text).replace(/\s+/g, ' ')}.</p>`,
      )
    }),
    { numRuns: 500 },
  )
  expect(escapeMarkdown('two\nlines')).toBe('two lines')
  expect(escapeMarkdown('HTTP 503 from api.example.com:443, 0.5 s (1 of 3)')).toBe(
    'HTTP 503 from api.example.com:443, 0.5 s (1 of 3)',
  )
})
