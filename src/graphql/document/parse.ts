import type { DocumentNode, ParseOptions, Source } from 'graphql'
import { GraphQLError, getOperationAST, Kind, Lexer, parse, Source as SourceText, TokenKind } from 'graphql'
import { graphqlLimits } from '../../core/input-limits.ts'
import { requestError } from './request-error.ts'

/** The maximum number of tokens in a document, at which parsing stops. GraphiQL's introspection has about 300. */
const MAX_TOKENS = graphqlLimits.documentTokens.most
/** The maximum nesting of braces, brackets and parentheses, because parsing, validation and execution recurse. */
const MAX_DEPTH = graphqlLimits.documentDepth.most

/**
 * Parses a document. @throws GraphQLError `GRAPHQL_PARSE_FAILED` for a document that is invalid, too long or nested too
 * deeply.
 */
export function parseWithinLimits(source: string | Source, options?: ParseOptions): DocumentNode {
  try {
    requireShallow(typeof source === 'string' ? new SourceText(source) : source)
    return parse(source, { ...options, maxTokens: MAX_TOKENS })
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    const { message, source: text, positions } = error
    throw requestError('GRAPHQL_PARSE_FAILED', message, { source: text, positions })
  }
}

/** @throws GraphQLError when a document is nested too deeply to be parsed. */
function requireShallow(source: Source): void {
  const lexer = new Lexer(source)
  let depth = 0
  for (let count = 0; count <= MAX_TOKENS; count++) {
    const { kind, start } = lexer.advance()
    if (kind === TokenKind.EOF) return
    if (opening.has(kind)) depth += 1
    else if (closing.has(kind)) depth -= 1
    if (depth > MAX_DEPTH) {
      const message = `Syntax Error: The document is nested deeper than ${MAX_DEPTH} levels.`
      throw new GraphQLError(message, { source, positions: [start] })
    }
  }
}

const opening: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const closing: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/** @throws GraphQLError `BAD_USER_INPUT` when a document does not have exactly one operation to execute. */
export function requireOperation(document: DocumentNode, operationName: string | null | undefined): void {
  if (getOperationAST(document, operationName)) return
  throw requestError('BAD_USER_INPUT', missingOperation(document, operationName))
}

function missingOperation({ definitions }: DocumentNode, operationName: string | null | undefined): string {
  if (operationName != null) return `The document has no operation named "${operationName}".`
  const has = definitions.some(({ kind }) => kind === Kind.OPERATION_DEFINITION)
  return has ? 'The document has several operations. Name one in operationName.' : 'The document has no operation.'
}
