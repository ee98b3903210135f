import type { Prisma } from '../../generated/prisma/client.ts'
import { piecesOf } from '../../language/isolate.ts'
import type { InLanguage } from '../../status/timeline/translations.ts'
import { titleIn } from '../../status/timeline/translations.ts'
import type { PageContext } from './page-layout.tsx'

/**
 * The attributes of an element with a text of the owner. The text is presumably in the page's default language; on
 * pages in other languages, it can be in any language.
 */
export const ownersAttributes = {
  byDefault: { dir: 'auto' },
  otherwise: { dir: 'auto', lang: '' },
} as const

/** Returns the attributes of an element with a text of the owner, which may be in the page's language. */
export function attributesOf({ isTranslated = false }: InLanguage, { ownersText }: Pick<PageContext, 'ownersText'>) {
  return isTranslated ? ownersAttributes.byDefault : ownersText
}

interface OwnersTitleProps {
  readonly of: { readonly title: string; readonly titles?: Prisma.JsonValue }
  readonly href: string
  readonly context: PageContext
}

/** Renders a link with the title of an incident or a maintenance in the page's language, if it has one. */
export function OwnersTitle({ of, href, context }: OwnersTitleProps) {
  const { title, ...written } = titleIn(of, context.shownIn)
  return (
    <a href={href} {...attributesOf(written, context)}>
      {title}
    </a>
  )
}

/**
 * Renders a sentence in which the owner's texts (`isolate`) have their own language and direction, where these can
 * differ: most patches of an open page contain some.
 */
export function Sentence({
  text,
  context: { ownersText, words },
}: {
  readonly text: string
  readonly context: Pick<PageContext, 'ownersText' | 'words'>
}) {
  const { lang } = ownersText
  const differs = (own: string) => lang !== undefined || words.dir === 'rtl' || rightToLeft.test(own)
  // `bdi` has its own direction anyway.
  return (
    <>
      {piecesOf(text).map((piece) =>
        piece.isOwners && differs(piece.text) ? <bdi lang={lang}>{piece.text}</bdi> : piece.text,
      )}
    </>
  )
}

/** The Unicode blocks of right-to-left scripts. */
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u
