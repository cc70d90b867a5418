"""`make chaos`: kills and disturbs real processes under load. The verdict comes from records that the product
does not write.
"""
