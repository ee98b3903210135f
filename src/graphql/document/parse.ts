import type { DocumentNode, Token } from 'graphql'
import { GraphQLError, getOperationAST, Kind, Lexer, parse, Source, TokenKind } from 'graphql'
import { graphqlLimits } from '../../core/input-limits.ts'
import { unstorable } from '../../core/storable-text.ts'
import { truncate } from '../../core/truncate.ts'
import { requestError } from './request-error.ts'

/** The maximum number of tokens in a document, at which parsing stops. GraphiQL's introspection has about 300. */
const MAX_TOKENS = graphqlLimits.documentTokens.most
/** The maximum nesting of braces, brackets and parentheses, because parsing, validation and execution recurse. */
const MAX_DEPTH = graphqlLimits.documentDepth.most
const MAX_NAME_LENGTH = graphqlLimits.documentName.most

/**
 * Parses a document.
 * @throws GraphQLError `GRAPHQL_PARSE_FAILED` for a document that is invalid, too long or nested too deeply, or has a name
 *   that is too long; `BAD_USER_INPUT` for a text that cannot be stored.
 */
export function parseWithinLimits(text: string): DocumentNode {
  const source = new Source(text)
  try {
    return parse(source, { maxTokens: MAX_TOKENS, lexer: new LimitedLexer(source) })
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    const { message, positions, extensions } = error
    throw extensions['code'] === undefined
      ? requestError('GRAPHQL_PARSE_FAILED', message, { source, positions })
      : error
  }
}

/** Reads the tokens of a document until one of them is nested too deeply, or is a hostile name or text. */
class LimitedLexer extends Lexer {
  private depth = 0

  /** The parser calls this for each token, before it goes deeper. */
  override advance(): Token {
    const before: Linked = this.token
    const token = super.advance()
    // Each place in the tree holds a token, which would hold all of them.
    before.next = null
    ;(token as Linked).prev = null
    this.depth += Number(opening.has(token.kind)) - Number(closing.has(token.kind))
    const error = problemOf(token, this.depth, this.source)
    if (error) throw error
    return token
  }
}

/** A token, which the lexer itself links with those beside it. */
type Linked = { -readonly [Name in 'next' | 'prev']: Token[Name] }

function problemOf({ kind, start, value }: Token, depth: number, source: Source): GraphQLError | null {
  const place = { source, positions: [start] }
  if (depth > MAX_DEPTH)
    return new GraphQLError(`Syntax Error: The document is nested deeper than ${MAX_DEPTH} levels.`, place)
  if (kind === TokenKind.NAME && value.length > MAX_NAME_LENGTH)
    return new GraphQLError(`Syntax Error: A name has more than ${MAX_NAME_LENGTH} characters.`, place)
  const why = texts.has(kind) ? unstorable(value) : null
  return why === null ? null : requestError('BAD_USER_INPUT', `A text of the document ${why}.`, place)
}

const texts: ReadonlySet<TokenKind> = new Set([TokenKind.STRING, TokenKind.BLOCK_STRING])
const opening: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const closing: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/** @throws GraphQLError `BAD_USER_INPUT` when a document does not have exactly one operation to execute. */
export function requireOperation(document: DocumentNode, operationName: string | null | undefined): void {
  if (getOperationAST(document, operationName)) return
  throw requestError('BAD_USER_INPUT', missingOperation(document, operationName))
}

function missingOperation({ definitions }: DocumentNode, operationName: string | null | undefined): string {
  if (operationName != null) return `The document has no operation named "${truncate(operationName, MAX_NAME_LENGTH)}".`
  const has = definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  return has ? 'The document has several operations. Name one in operationName.' : 'The document has no operation.'
}
