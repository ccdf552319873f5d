import { createRequire } from 'node:module'
import type express from 'express'

/** Express 4 under its alias, which has no types of its own; the types of Express 5 fit what the tests use. */
export const express4: typeof express = createRequire(import.meta.url)('express4')
