"""What the class of a board, a card or a case cannot leave, where nobody wrote the figure down."""
