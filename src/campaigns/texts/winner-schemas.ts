import { Type } from '@sinclair/typebox'

export const Nullable = (description: string) => Type.Unsafe<string | null>({ type: ['string', 'null'], description })

export const WinnerAnswer = Type.Object({
  step: Nullable('The step; null: the campaign has none.'),
  variant: Type.String({ description: 'The variant that all recipients get.' }),
  among: Type.Array(Type.String(), {
    description: 'The variants it was chosen among. It counts while the campaign has these.'
  }),
  by: Nullable('The rate that decided: conversion, tapped or delivered. null: it was chosen by hand.'),
  chosen_at: Type.String()
})
