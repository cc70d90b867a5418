// The sizes, distances and colours that make a card look as in Teams. Where the contrast of Teams' colours is too low, others are used.

const COLOURS = {
  light: {
    default: "#242424", subtle: "#616161", accent: "#4f52b2", good: "#237b4b", warning: "#8a5300", attention: "#b5183a",
    emphasis: "#f0f0f0", line: "#e0e0e0",
  },
  dark: {
    default: "#ffffff", subtle: "#adadad", accent: "#a6a7f5", good: "#92c353", warning: "#f8d22a", attention: "#f58a9b",
    emphasis: "#333333", line: "#3d3d3d",
  },
};
const SIZES = { small: 12, default: 14, medium: 16, large: 18, extraLarge: 24 };
const WEIGHTS = { lighter: 300, default: 400, bolder: 600 };

export function hostConfig(dark) {
  const colours = COLOURS[dark ? "dark" : "light"];
  const both = (name) => ({ default: colours[name], subtle: name === "default" ? colours.subtle : colours[name] });
  const foregroundColors = Object.fromEntries(
    ["default", "accent", "good", "warning", "attention"].map((name) => [name, both(name)]));
  const style = (backgroundColor) => ({ backgroundColor, foregroundColors });
  return {
    supportsInteractivity: true,
    spacing: { small: 4, default: 8, medium: 12, large: 20, extraLarge: 32, padding: 16 },
    separator: { lineThickness: 1, lineColor: colours.line },
    fontTypes: {
      default: { fontFamily: "inherit", fontSizes: SIZES, fontWeights: WEIGHTS },
      monospace: { fontFamily: "ui-monospace, Consolas, 'DejaVu Sans Mono', monospace", fontSizes: SIZES, fontWeights: WEIGHTS },
    },
    containerStyles: {
      default: style("transparent"), emphasis: style(colours.emphasis), accent: style(colours.emphasis),
      good: style(colours.emphasis), attention: style(colours.emphasis), warning: style(colours.emphasis),
    },
    inputs: {
      label: {
        inputSpacing: "small",
        requiredInputs: { weight: "bolder", suffix: " *", suffixColor: "attention" },
        optionalInputs: { weight: "bolder" },
      },
      errorMessage: { color: "attention", size: "small", weight: "default", spacing: "small" },
    },
    actions: {
      maxActions: 6, spacing: "default", buttonSpacing: 8, actionsOrientation: "horizontal", actionAlignment: "left",
      showCard: { actionMode: "inline", inlineTopMargin: 12 },
    },
    textBlock: { headingLevel: 3 },
    table: { cellSpacing: 8 },
  };
}
