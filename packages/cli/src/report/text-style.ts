import { styleText } from 'node:util'

/** Output of a command. */
export interface TextOutput {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
}

/** Emphasises texts for a terminal. */
export interface TextStyle {
  readonly heading: (text: string) => string
  readonly bad: (text: string) => string
}

const PLAIN: TextStyle = { heading: (text) => text, bad: (text) => text }
// the output decides, not the standard output of the process
const ALWAYS = { validateStream: false }
const COLOURED: TextStyle = {
  heading: (text) => styleText('bold', text, ALWAYS),
  bad: (text) => styleText('red', text, ALWAYS),
}

/** Returns colours if the output is a terminal and the environment does not set `NO_COLOR`. */
export function textStyle(output: TextOutput, env: NodeJS.ProcessEnv = process.env): TextStyle {
  return output.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb' ? COLOURED : PLAIN
}
