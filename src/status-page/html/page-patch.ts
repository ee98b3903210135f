import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type {
  FollowedPage,
  LivePage,
  PageCache,
  PageParts,
  PagePatch,
  RenderedPage,
  ShownParts,
} from '../page-cache.ts'
import { changedParts } from './parts.tsx'

const deflateAsync = promisify(deflate)

/** The maximum number of versions of parts that a patch applies to, and of patches kept. */
const MAX_SHOWN = 4
const MAX_PATCHES = 4
/**
 * The maximum length of a patch, which is written to each socket. Open pages fetch larger changes, which are cached.
 */
const MAX_LENGTH = 8000

/** Returns the record of a page that open pages follow. */
export function followedPage({ followed }: Pick<PageCache, 'followed'>, key: string): FollowedPage {
  const found = followed.get(key)
  if (found !== undefined) return found
  const page: FollowedPage = { shown: [], patches: [], idle: Promise.resolve() }
  followed.set(key, page)
  return page
}

/** Remembers that open pages may show these parts. */
export function noteShown(page: FollowedPage | undefined, { hashes, partsVersion }: ShownParts): void {
  if (page === undefined || page.shown.some((each) => each.partsVersion === partsVersion)) return
  const [sent, ...others] = [...page.shown, { hashes, partsVersion }]
  // The parts on most open pages stay first.
  if (sent !== undefined) page.shown = [sent, ...others.slice(1 - MAX_SHOWN)]
}

/**
 * Returns the patch for an event: the changes since the previous event. Null: an earlier event sent them, the patch
 * would be too large, or the page is not current yet.
 * @param seq the position of the event.
 * @param render returns the page as of this position or later; null: it cannot.
 */
export function patchOf(
  page: FollowedPage,
  seq: number,
  render: () => Promise<(RenderedPage & { readonly live: LivePage }) | null>,
): Promise<PagePatch | null> {
  const patch = page.idle.then(async () => {
    const last = page.patches.at(-1)
    if (last !== undefined && seq <= last.reached) return page.patches.find((each) => each.seq === seq)?.patch ?? null
    return makePatch(page, seq, await render())
  })
  page.idle = patch.catch(() => {})
  return patch
}

async function makePatch(
  page: FollowedPage,
  seq: number,
  rendered: (RenderedPage & { readonly live: LivePage }) | null,
): Promise<PagePatch | null> {
  if (rendered === null) return null
  const { parts, seq: reached } = rendered.live
  const patch = await patchFrom(page.shown, parts)
  page.shown = [{ hashes: parts.hashes, partsVersion: parts.partsVersion }]
  page.patches = [...page.patches, { seq, reached, patch }].slice(-MAX_PATCHES)
  return patch
}

/**
 * Creates a patch for pages that show one of these lists of parts. Ignores lists of another length than the first.
 * Null: the patch would be too large.
 */
async function patchFrom(shown: readonly ShownParts[], current: PageParts): Promise<PagePatch | null> {
  const [first] = shown
  if (first === undefined) return null
  const alike = shown.filter(
    (each) =>
      each === first ||
      // Viewers who have fetched the current parts need no patch. With fewer parts, they would be at the wrong
      // positions.
      (each.hashes.length === first.hashes.length && each.partsVersion !== current.partsVersion),
  )
  const common = first.hashes.map((hash, index) => (alike.every(({ hashes }) => hashes[index] === hash) ? hash : null))
  const html = (await deflateAsync(changedParts(current, common))).toString('base64')
  return html.length > MAX_LENGTH ? null : { since: alike.map(({ partsVersion }) => partsVersion), html }
}
