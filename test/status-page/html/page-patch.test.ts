import { inflateSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { followedPage, noteShown, patchOf } from '../../../src/status-page/html/page-patch.ts'
import { cutIntoParts, joinParts, Part, unversioned } from '../../../src/status-page/html/parts.tsx'
import type { LivePage, RenderedPage } from '../../../src/status-page/page-cache.ts'
import { createPageCache } from '../../../src/status-page/page-cache.ts'
import { noon } from '../../support/context.ts'

type Live = RenderedPage & { readonly live: LivePage }

/** A page of services with these names, at a position. */
function page(seq: number, names: readonly string[]): Live {
  const items = names.map((name) => `${Part({ children: `<li>${name}</li>` })}`)
  const attributes = Object.keys(unversioned).map((name) => `${name}=""`)
  const parts = cutIntoParts(`<title>${seq}</title><body ${attributes.join(' ')}><ul>${items.join('')}</ul></body>`)
  const empty = Buffer.alloc(0)
  const headers = { etag: '""' }
  const rendered = {
    language: 'EN' as const,
    offered: null,
    organizationId: 'org_1',
    plain: empty,
    gzipped: null,
    stateVersion: '',
    headers,
  }
  return { ...rendered, live: { seq, reached: seq, parts, changes: new Map() } }
}

const bodyOf = (html: string) => html.slice(html.indexOf('<body'))
const followed = () =>
  followedPage(
    createPageCache(() => noon),
    'page',
  )

/** Returns the page that a browser with this version shows after a patch; null: the patch is for other versions. */
function patched(patch: Awaited<ReturnType<typeof patchOf>>, { live: { parts } }: Live): string | null {
  if (!patch?.since.includes(parts.partsVersion)) return null
  const html = inflateSync(Buffer.from(patch.html, 'base64')).toString()
  return bodyOf(html).replace(/<template data-same="(\d+)(?: (\d+))?"><\/template>/g, (_, first, last = first) =>
    parts.parts.slice(Number(first), Number(last) + 1).join(''),
  )
}

describe('the patch of an event', () => {
  test('contains changes since the previous patch, and what was fetched since', async () => {
    const all = followed()
    const [sent, fetched, later] = [
      page(1, ['API', 'Shop']),
      page(1, ['API', 'Shop 2']),
      page(2, ['API down', 'Shop 2']),
    ]
    noteShown(all, sent.live.parts)
    noteShown(all, fetched.live.parts)
    const patch = await patchOf(all, 2, async () => later)
    for (const each of [sent, fetched]) expect(patched(patch, each)).toBe(bodyOf(joinParts(later.live.parts)))
    expect(patched(patch, page(0, ['API']))).toBeNull()
    const last = page(3, ['API', 'Shop 2'])
    const next = await patchOf(all, 3, async () => last)
    expect(patched(next, later)).toBe(bodyOf(joinParts(last.live.parts)))
    expect(patched(next, sent)).toBeNull()
  })

  test('is sent with the first of several concurrent events, and again on request', async () => {
    const all = followed()
    noteShown(all, page(1, ['API']).live.parts)
    const render = async () => page(3, ['API', 'Shop'])
    const patches = await Promise.all([2, 3, 2].map((seq) => patchOf(all, seq, render)))
    expect(patches).toEqual([expect.objectContaining({ html: expect.any(String) }), null, patches[0]])
  })

  test('is for viewers who have not fetched its changes, in any order of parts', async () => {
    const all = followed()
    const [before, after] = [page(1, ['One', 'Two', 'Three']), page(2, ['New', 'One', 'Two'])]
    noteShown(all, before.live.parts)
    noteShown(all, after.live.parts)
    const patch = await patchOf(all, 2, async () => after)
    expect(patch?.since).toEqual([before.live.parts.partsVersion])
    expect(inflateSync(Buffer.from(patch?.html ?? '', 'base64')).toString()).toContain('<template data-same="0 1">')
  })

  test('is null if it is large, if there are no known viewers, and if the page cannot be read', async () => {
    const all = followed()
    const noise = Array.from({ length: 1000 }, (_, index) => `Service ${Math.sin(index)}`)
    expect(await patchOf(all, 1, async () => page(1, ['API']))).toBeNull()
    expect(await patchOf(all, 2, async () => page(2, noise))).toBeNull()
    expect(await patchOf(all, 3, async () => null)).toBeNull()
    await expect(patchOf(all, 3, () => Promise.reject(new Error('no database')))).rejects.toThrow('no database')
    // The next patch includes what was too large to be sent.
    expect((await patchOf(all, 4, async () => page(4, noise.with(3, 'Shop'))))?.html).toMatch(/^.{1,500}$/)
  })

  test('leads to the current page for all its viewers, in any sequence', async () => {
    const names = fc.array(fc.constantFrom('API', 'Shop', 'Mail', 'DNS'), { maxLength: 5 })
    const step = fc.record({ names, isEvent: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const all = followed()
        let known: Live[] = []
        for (const [seq, { names, isEvent }] of steps.entries()) {
          const current = page(seq, names)
          if (!isEvent) noteShown(all, current.live.parts)
          else {
            const patch = await patchOf(all, seq, async () => current)
            const shown = known.map((each) => patched(patch, each)).filter((html) => html !== null)
            expect(new Set(shown)).toEqual(new Set(shown.length ? [bodyOf(joinParts(current.live.parts))] : []))
          }
          known = [...known, current]
        }
      }),
    )
  })
})

test('only some versions of a page are kept: that of the last patch, and the newest', () => {
  const all = followed()
  const pages = ['A', 'B', 'C', 'D', 'E', 'F', 'F'].map((name) => page(1, [name]))
  for (const { live } of pages) noteShown(all, live.parts)
  const versions = pages.map(({ live }) => live.parts.partsVersion)
  expect(all.shown.map(({ partsVersion }) => partsVersion)).toEqual([0, 3, 4, 5].map((index) => versions[index]))
})
