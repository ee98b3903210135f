import { createHash, randomBytes } from 'node:crypto'
import { raw } from 'hono/html'
import type { Child } from 'hono/jsx'
import type { PageParts } from '../page-cache.ts'

/** Marks of the beginning and the end of a part in rendered HTML. They are random, so no text contains them. */
const marks = { start: `<!--${randomBytes(12).toString('hex')}-->`, end: `<!--${randomBytes(12).toString('hex')}-->` }

const anyMark = new RegExp(`(${marks.start}|${marks.end})`)

/**
 * Renders one element that an open page replaces as a whole when anything in it changes. A part within a part does not
 * count.
 */
export function Part({ children }: { readonly children: Child }) {
  return (
    <>
      {raw(marks.start)}
      {children}
      {raw(marks.end)}
    </>
  )
}

/** The placeholder in a page's `body` tag for its versions, which are only known after rendering. */
const versionAttributes = 'data-version="" data-parts=""'

/** The attributes of `body` that `cutIntoParts` completes. */
export const unversioned = { 'data-version': '', 'data-parts': '' } as const

/** Cuts a rendered page into its parts, marks their elements with `data-part`, and gives the page its versions. */
export function cutIntoParts(html: string): PageParts {
  const around: string[] = []
  const parts: string[] = []
  let depth = 0
  let text = ''
  for (const piece of html.split(anyMark)) {
    if (piece === marks.start) depth += 1
    else if (piece === marks.end) depth -= 1
    else text += piece
    if (piece === marks.start && depth === 1) {
      around.push(text)
      text = ''
    } else if (piece === marks.end && depth === 0) {
      // Rendered attributes contain no `>`.
      parts.push(text.replace(/^<[^>]+/, '$& data-part'))
      text = ''
    }
  }
  around.push(text)
  const hashes = parts.map(shortHash)
  const version = shortHash([...around, ...hashes].join('\n'))
  const partsVersion = shortHash(hashes.join('\n'))
  const attributes = `data-version="${version}" data-parts="${partsVersion}"`
  const versioned = around.map((text) => text.replace(versionAttributes, attributes))
  return { version, around: versioned, parts, hashes, partsVersion }
}

/** Returns the whole page. */
export function joinParts({ around, parts }: PageParts): string {
  return around.map((text, index) => text + (parts[index] ?? '')).join('')
}

/**
 * Returns the changes of a page, as the title and the body of an HTML document. Each run of parts that an earlier
 * version also has is replaced with `<template data-same="{first} {last}">`, or with `{first}` alone for one; they
 * count that version's parts from 0.
 * @param earlier the hashes of the earlier version's parts, in order; null: send this part.
 */
export function changedParts({ around, parts, hashes }: PageParts, earlier: readonly (string | null)[]): string {
  const [title = ''] = /<title>.*?<\/title>/s.exec(around[0] ?? '') ?? []
  const indexes = new Map(earlier.map((hash, index) => [hash, index]))
  let text = `${title}${(around[0] ?? '').replace(/^.*?(?=<body)/s, '')}`
  for (let index = 0; index < parts.length; index++) {
    const first = indexes.get(hashes[index] ?? '')
    if (first === undefined) {
      text += parts[index]
    } else {
      let last = first
      // A run ends where there is HTML between two parts.
      while (around[index + 1] === '' && earlier[last + 1] !== undefined && earlier[last + 1] === hashes[index + 1]) {
        last += 1
        index += 1
      }
      text += `<template data-same="${first === last ? first : `${first} ${last}`}"></template>`
    }
    text += around[index + 1]
  }
  // The last elements of a document need no closing tags.
  return text.replace(/<\/body><\/html>$/, '')
}

/** Returns a hash of 72 bits in 12 characters. */
export function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 12)
}
