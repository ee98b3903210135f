/** A piece of a sentence: our text, or a text of the owner within it. */
export interface Piece {
  readonly text: string
  readonly isOwners: boolean
}

/** First strong isolate, and its end: the text between them has its own direction. Owners cannot write either. */
const [START, END] = ['\u2068', '\u2069']
const isolated = new RegExp(`${START}([^${START}${END}]*)${END}`)

/**
 * Marks a text of the owner that becomes part of a sentence, so that it can be shown in its own language and direction.
 */
export function isolate(text: string): string {
  return START + text + END
}

/** Returns a sentence without marks. */
export function withoutIsolates(sentence: string): string {
  return piecesOf(sentence)
    .map(({ text }) => text)
    .join('')
}

/** Splits a sentence into our texts and the texts of the owner. */
export function piecesOf(sentence: string): readonly Piece[] {
  return sentence.split(isolated).flatMap((text, index) => (text === '' ? [] : [{ text, isOwners: index % 2 === 1 }]))
}
