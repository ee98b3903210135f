import { Hono } from 'hono'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PageError } from '../../../src/http/page/error-page.tsx'
import { errorPage } from '../../../src/http/page/error-page.tsx'
import type { PageProps, Site } from '../../../src/http/page/layout.tsx'
import { renderPageShell, respondWithPage } from '../../../src/http/page/layout.tsx'
import { givenCheckPages } from '../../support/check-pages.ts'
import { nestingFaults, repeatedIds } from '../../support/markup.ts'

let site: Site
beforeAll(async () => {
  site = (await givenCheckPages()).site
})

const page: PageProps = { title: 'A page', description: 'What it is.', path: '/a%20page', indexed: true }

async function render(props: Partial<PageProps> = {}, headers: Record<string, string> = {}) {
  const app = new Hono().get('/', (c) => {
    for (const [name, value] of Object.entries(headers)) c.header(name, value)
    return respondWithPage(c, site, { ...page, ...props }, <p>Content</p>)
  })
  const response = await app.request('/')
  return { response, html: await response.text() }
}

async function renderError(error: PageError) {
  const response = await new Hono().get('/', (c) => errorPage(c, site, error)).request('/')
  return { response, html: await response.text() }
}

describe('every page', () => {
  test('is well-formed, with language, title, description and address', async () => {
    const { html } = await render()
    expect(html).toMatch(/^<!DOCTYPE html><html lang="en">/)
    expect(nestingFaults(html)).toEqual([])
    expect(repeatedIds(html)).toEqual([])
    expect(html).toContain('<title>A page</title>')
    expect(html).toContain('<meta name="description" content="What it is."/>')
    expect(html).toContain('<link rel="canonical" href="https://allclear.example/a%20page"/>')
    expect(html).toContain('<p>Content</p>')
    expect(html).toContain(`<link rel="stylesheet" href="${site.assets.url('style.css')}"/>`)
    expect(html.match(/<meta name="theme-color"/g)).toHaveLength(2)
  })

  test('starts with a link that skips to the content', async () => {
    const { html } = await render()
    expect(html).toMatch(/<body><a class="skip" href="#main">/)
    expect(html).toContain('<main id="main"')
  })

  test('forbids external resources', async () => {
    const { response } = await render()
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy')
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain('unsafe')
    expect(response.headers.get('cache-control')).toBe('private, no-cache')
  })

  test('keeps headers set before', async () => {
    const set = { 'X-RateLimit-Limit': '100', 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' }
    const { response } = await render({}, set)
    for (const [name, value] of Object.entries(set)) expect(response.headers.get(name)).toBe(value)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('has nothing inline that the policy forbids', async () => {
    const { html } = await render({ scripts: ['check.js'] })
    expect(html).not.toMatch(/ style="| on[a-z]+="|<style|<script>|javascript:/)
  })

  test('runs its scripts once it is parsed, except those that must run earlier', async () => {
    const script = (mode: string) => `<script ${mode}="" src="${site.assets.url('check.js')}"></script>`
    expect((await render({ scripts: ['check.js'] })).html).toContain(script('defer'))
    expect((await render({ earlyScripts: ['check.js'] })).html).toContain(script('async'))
  })

  test('marks the current page in the navigation', async () => {
    expect((await render({ path: '/' })).html).toContain('<a href="/" aria-current="page">Check</a>')
    expect((await render()).html).not.toContain('aria-current')
  })

  test('escapes its title and description', async () => {
    const { html } = await render({ title: '</title><script>1</script>', description: '"><img src=x>' })
    expect(html).not.toContain('<script>1')
    expect(html).not.toContain('<img')
  })

  test('is not split by a title that contains the content placeholder', () => {
    const [before, after] = renderPageShell(site, { ...page, title: '<!--content-->' })
    expect(before).toMatch(/<main id="main" tabindex="-1">$/)
    expect(after).toMatch(/^<\/main><footer/)
  })

  test('credits the sources of its data', async () => {
    const { html } = await render({ sources: [{ text: 'Data by X', url: 'https://x.example' }] })
    expect(html).toContain('<a href="https://x.example" rel="noopener noreferrer">Data by X</a>')
  })

  test('can be kept out of search engines', async () => {
    expect((await render({ indexed: false })).html).toContain('<meta name="robots" content="noindex, nofollow"/>')
    expect((await render()).html).not.toContain('robots')
  })
})

describe('an error page', () => {
  test('for a bad target shows the error and the form with the input', async () => {
    const { response, html } = await renderError({ status: 400, message: 'A URL: send <host>.', input: '"><b>x' })
    expect(response.status).toBe(400)
    expect(html).toContain('A URL: send &lt;host&gt;.')
    expect(html).toContain('value="&quot;&gt;&lt;b&gt;x"')
    expect(html).toContain('aria-describedby="problem"')
    expect(html).toContain('id="problem"')
    expect(nestingFaults(html)).toEqual([])
  })

  test('repeats the input up to the maximum length of a target', async () => {
    const { html } = await renderError({ status: 400, message: 'Too long.', input: 'a'.repeat(100_000) })
    expect(html.length).toBeLessThan(6000)
  })

  test('for an unknown path shows the form', async () => {
    const { response, html } = await renderError({ status: 404 })
    expect(response.status).toBe(404)
    expect(html).toContain('action="/check"')
    expect(html).not.toContain('aria-invalid')
  })

  test('for a used-up quota shows when it resets', async () => {
    const resetsAt = new Date('2026-11-21T00:00:00Z')
    const { response, html } = await renderError({ status: 429, message: 'All used.', resetsAt })
    expect(response.status).toBe(429)
    expect(html).toContain('<time datetime="2026-11-21T00:00:00.000Z">21 Nov 2026, 00:00:00 UTC</time>')
  })

  test('for an internal error shows only the ID under which it is logged', async () => {
    const { response, html } = await renderError({ status: 500, requestId: 'req_1' })
    expect(response.status).toBe(500)
    expect(html).toContain('<code>req_1</code>')
    expect(html).toContain('noindex')
  })
})
