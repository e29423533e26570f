function run(words)
  return { #words[1] }
end
